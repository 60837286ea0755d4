import OpenAI from 'openai';
import { startScriptedServer, type ScriptedServer } from '#providers';
import { script, TASK } from './script.ts';

/** The script, asked by the SDK as any client would ask the real API. */
describe('the scripted model of incident triage', () => {
  let server: ScriptedServer;
  let client: OpenAI;
  beforeAll(async () => {
    server = await startScriptedServer({ script });
    client = new OpenAI({ apiKey: 'any', baseURL: server.url, maxRetries: 0 });
  });
  afterAll(() => server.close());

  type Items = OpenAI.Responses.ResponseInputItem[];
  const ask = async (input: Items) => {
    const response = await client.responses.create({
      model: 'any',
      input,
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    const calls = response.output.filter((item) => item.type === 'function_call');
    return { response, calls, items: response.output as Items };
  };
  const output = (callId: string, value: unknown): Items[number] => ({
    type: 'function_call_output',
    call_id: callId,
    output: `[data from a tool]\n${JSON.stringify(value)}`,
  });

  const run = async (answers: Readonly<Record<string, unknown>>) => {
    const input: Items = [{ role: 'user', content: TASK }];
    const asked: { name: string; arguments: unknown }[][] = [];
    for (;;) {
      const { response, calls, items } = await ask(input);
      asked.push(calls.map((item) => ({ name: item.name, arguments: JSON.parse(item.arguments) as unknown })));
      if (calls.length === 0) return { asked, text: response.output_text };
      input.push(...items, ...calls.map((item) => output(item.call_id, answers[item.name])));
    }
  };
  const reads = {
    incidents__read_recent_alerts: { alerts: [{ id: 'alert-4711' }, { id: 'alert-4712' }, { id: 'alert-4713' }] },
    incidents__search_runbook: { runbooks: [{ id: 'runbook-checkout-5xx', steps: ['See alert-4711.'] }] },
  };

  it('reads twice at once, then asks for one ticket with evidence from these reads, then answers', async () => {
    const { asked, text } = await run({ ...reads, incidents__create_incident_ticket: { id: 'INC-1001' } });
    expect(asked.map((calls) => calls.map((one) => one.name))).toEqual([
      ['incidents__read_recent_alerts', 'incidents__search_runbook'],
      ['incidents__create_incident_ticket'],
      [],
    ]);
    expect(asked[1]![0]!.arguments).toMatchObject({
      severity: 'sev1',
      evidence_ids: ['alert-4711', 'alert-4712', expect.stringMatching(/^(alert|runbook)-/)],
    });
    expect(text).toContain('INC-1001');
  });
  it('claims no ticket when the call failed (G9)', async () => {
    const { text } = await run({ ...reads, incidents__create_incident_ticket: { error: { code: 'APPROVAL_DENIED' } } });
    expect(text).toContain('No ticket was opened');
  });
  it('asks for no ticket when nothing could be read', async () => {
    const failed = { error: { code: 'UPSTREAM_UNAVAILABLE' } };
    const { asked, text } = await run({ incidents__read_recent_alerts: failed, incidents__search_runbook: failed });
    expect(asked).toHaveLength(2);
    expect(text).toContain('no evidence');
  });
});
