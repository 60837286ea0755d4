import OpenAI from 'openai';
import { startScriptedServer, type Script } from '#providers';

type Items = OpenAI.Responses.ResponseInputItem[];

/** A whole transcript: what the model asks for, given what each tool answers. */
export async function playScript(spoken: Script, task: string, answers: Readonly<Record<string, unknown>>) {
  const server = await startScriptedServer({ script: spoken });
  try {
    const client = new OpenAI({ apiKey: 'any', baseURL: server.url, maxRetries: 0 });
    const input: Items = [{ role: 'user', content: task }];
    const asked: { name: string; arguments: Record<string, unknown> }[][] = [];
    for (;;) {
      const response = await client.responses.create({
        model: 'any',
        input,
        store: false,
        include: ['reasoning.encrypted_content'],
      });
      const calls = response.output.filter((item) => item.type === 'function_call');
      asked.push(
        calls.map((item) => ({ name: item.name, arguments: JSON.parse(item.arguments) as Record<string, unknown> })),
      );
      if (calls.length === 0) return { asked, text: response.output_text };
      input.push(
        ...(response.output as Items),
        ...calls.map((item): Items[number] => ({
          type: 'function_call_output',
          call_id: item.call_id,
          output: `<tool-result>\n${JSON.stringify(answers[item.name])}\n</tool-result>`,
        })),
      );
    }
  } finally {
    await server.close();
  }
}
