import { inputItems, type InputItem } from './script.ts';

export interface RequestError {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  readonly param: string | null;
}

const bad = (message: string, param: string | null, code: string | null = 'invalid_value'): RequestError => ({
  status: 400,
  message,
  code,
  param,
});
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Refuses what the real API refuses; null = accepted. */
export function checkRequest(body: unknown): RequestError | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return bad('The body must be a JSON object.', null);
  const request = body as Readonly<Record<string, unknown>>;
  if (typeof request.model !== 'string' || request.model === '')
    return bad("Missing required parameter: 'model'.", 'model', 'missing_required_parameter');
  if (typeof request.input !== 'string' && !Array.isArray(request.input))
    return bad("'input' must be a string or an array.", 'input', 'invalid_type');
  if (request.stream === true) return bad('This server does not stream.', 'stream', 'unsupported_value');
  return checkTools(request.tools) ?? checkInput(inputItems(request.input), request.store === false);
}

function checkTools(tools: unknown): RequestError | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return bad("'tools' must be an array.", 'tools', 'invalid_type');
  const names = new Set<string>();
  for (const [index, tool] of (tools as InputItem[]).entries()) {
    const at = `tools[${index}]`;
    if (tool.type !== 'function') return bad(`Unsupported tool type at ${at}.`, `${at}.type`);
    if (typeof tool.name !== 'string' || !TOOL_NAME.test(tool.name)) return bad(`Invalid name at ${at}.`, `${at}.name`);
    if (names.has(tool.name)) return bad(`Duplicate tool name at ${at}.`, `${at}.name`);
    names.add(tool.name);
    const parameters = tool.parameters as InputItem | null | undefined;
    if (parameters && parameters.type !== 'object')
      return bad(`Schema must have type 'object' at ${at}.`, `${at}.parameters`, 'invalid_function_parameters');
  }
  return null;
}

function checkInput(items: readonly InputItem[], stateless: boolean): RequestError | null {
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const [index, item] of items.entries()) {
    const at = `input[${index}]`;
    switch (item.type ?? 'message') {
      case 'message':
        if (typeof item.role !== 'string')
          return bad(`Missing role at ${at}.`, `${at}.role`, 'missing_required_parameter');
        break;
      case 'reasoning':
        if (!stateless) break;
        if (typeof item.encrypted_content !== 'string') {
          return {
            status: 404,
            message: `Item with id '${String(item.id)}' not found. Items are not persisted when 'store' is false.`,
            code: null,
            param: 'input',
          };
        }
        if (item.encrypted_content !== encryptedReasoning(String(item.id))) {
          return bad(
            'The encrypted content could not be verified.',
            `${at}.encrypted_content`,
            'invalid_encrypted_content',
          );
        }
        break;
      case 'function_call': {
        const callId = item.call_id;
        if (typeof callId !== 'string' || callId === '' || callId.length > 64)
          return bad(`Invalid call_id at ${at}.`, `${at}.call_id`);
        if (typeof item.name !== 'string' || typeof item.arguments !== 'string')
          return bad(`Invalid function call at ${at}.`, at, 'invalid_type');
        if (open.has(callId) || answered.has(callId)) return bad(`Duplicate call_id at ${at}.`, `${at}.call_id`);
        open.add(callId);
        break;
      }
      case 'function_call_output': {
        const callId = String(item.call_id);
        if (typeof item.output !== 'string' && !Array.isArray(item.output))
          return bad(`Invalid output at ${at}.`, `${at}.output`, 'invalid_type');
        if (answered.has(callId)) return bad(`Duplicate tool output for call_id ${callId}.`, 'input', null);
        if (!open.delete(callId))
          return bad(`No tool call found for function call output with call_id ${callId}.`, 'input', null);
        answered.add(callId);
        break;
      }
      default:
        return bad(`Invalid value at ${at}.`, `${at}.type`);
    }
  }
  const [unanswered] = open;
  return unanswered === undefined ? null : bad(`No tool output found for function call ${unanswered}.`, 'input', null);
}

/** Stands for the provider's sealed reasoning: can be checked when it comes back, without keeping anything. */
export const encryptedReasoning = (id: string): string =>
  `enc_${Buffer.from(`reasoning of ${id}`).toString('base64url')}`;
