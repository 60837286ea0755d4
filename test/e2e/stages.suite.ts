import type { SinkState } from './effect-sink.ts';
import { faultSteps, newTask, toolsAndStates } from './fault-steps.ts';
import type { System } from './system.ts';

/** A run whose agent is shown its tools in stages; the same in every mode. */
export function stagesSuite(system: () => System, sink: () => SinkState): void {
  const { start, ended, approvalOf, decide } = faultSteps(system);

  describe('stages of an agent', () => {
    it('a tool of a later stage is TOOL_NOT_ALLOWED; the stage comes once its condition holds, and the run says where it is (G1)', async () => {
      const item = newTask();
      const write = { tool: 'probe.write_item', arguments: { item } };
      const read = { tool: 'probe.read_document', arguments: { document_id: 'notes' } };
      const runId = await start({ turns: [[write], [read], [write]] }, {}, newTask(), 'staged');
      const approval = await approvalOf(runId);
      expect(sink().byItem[item]).toBeUndefined();
      await decide(approval, 'approved');
      const run = await ended(runId);
      expect(toolsAndStates(run)).toEqual([
        ['probe.write_item', 'rejected', 'TOOL_NOT_ALLOWED'],
        ['probe.read_document', 'succeeded', null],
        ['probe.write_item', 'succeeded', null],
      ]);
      expect(run).toMatchObject({ status: 'completed', stage: 'act' });
      expect(sink().byItem[item]).toMatchObject({ applied: 1 });
    });
  });
}
