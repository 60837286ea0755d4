/**
 * What a policy may speak of (Cedar schema). Every request carries every attribute, so only facts need a `has` guard.
 *
 * principal  the one who acts: `User::"user:alice"` (or Service, Agent); `principal in Role::"agent"`
 * action     `call` (at all?) and `call_unattended` (without a person?)
 * resource   the tool: `Tool::"tickets.create"`; `resource in Namespace::"tickets"`
 * context    `tool` is `ns.name@version`; `tainted` tells that an argument may come from a tool's result;
 *            `resources` are what the call touches, e.g. `ticket:42`;
 *            `amount` is the argument that the contract names as `amountArgument`, 0 if it names none;
 *            `facts` are what the contract's fact read said: `context.facts has price && context.facts.price <= 5000`
 */
export const POLICY_SCHEMA = `
type Call = {
  tenant: String,
  tool: String,
  namespace: String,
  layer: String,
  risk: String,
  sideEffects: String,
  effectClass: String,
  driver: String,
  roles: Set<String>,
  tainted: Bool,
  resources: Set<String>,
  amount: Long,
  facts: { ownership?: String, price?: Long, quota?: Long, state?: String, resourceVersion?: String },
};
entity Role, Namespace;
entity User in [Role] { tenant: String };
entity Service in [Role] { tenant: String };
entity Agent in [Role] { tenant: String };
entity Tool in [Namespace];
action "call", "call_unattended" appliesTo {
  principal: [User, Service, Agent],
  resource: [Tool],
  context: Call,
};
`;
