import { setTimeout as delay } from 'node:timers/promises';
import { ENDED, type ApiClient, type ApprovalView, type RunView } from './api-client.ts';
import type { Screen } from './screen.ts';

export interface Decision {
  readonly approvalId: string;
  readonly decision: 'approved' | 'rejected';
  readonly approver: string;
}

export interface FollowedRun {
  readonly run: RunView;
  readonly approvals: Decision[];
}

export interface Callers {
  readonly agent: ApiClient;
  readonly approver: ApiClient;
  readonly approverId: string;
}

const LOOK_MS = 50;

/** Follows a run to its end, showing each step once and deciding what waits for a person. */
export async function followRun(callers: Callers, screen: Screen, runId: string): Promise<FollowedRun> {
  const shown = new Set<string>();
  const approvals: Decision[] = [];
  const once = (key: string, show: () => void): void => {
    if (shown.has(key)) return;
    shown.add(key);
    show();
  };
  for (;;) {
    const run = await callers.agent.get<RunView>(`/v1/runs/${runId}`);
    for (const call of run.calls) {
      once(`${call.callId} proposed`, () => screen.step(`the model proposes ${call.tool} (${call.callId})`));
      if (call.status !== 'proposed')
        once(`${call.callId} ${call.status}`, () =>
          screen.detail(`${call.tool}: ${call.status}${call.errorCode ? ` (${call.errorCode})` : ''}`),
        );
    }
    if (ENDED.has(run.status)) return { run, approvals };
    const { items } = await callers.approver.get<{ items: ApprovalView[] }>('/v1/approvals?status=pending');
    for (const approval of items.filter((a) => a.runId === runId && !shown.has(a.approvalId))) {
      shown.add(approval.approvalId);
      approvals.push(await decide(callers, screen, approval));
    }
    await delay(LOOK_MS);
  }
}

async function decide(callers: Callers, screen: Screen, approval: ApprovalView): Promise<Decision> {
  screen.title('A person must countersign');
  screen.step(
    `${approval.tool}, asked for by ${approval.requester.id}; risk ${approval.risk}, side effects ${approval.sideEffects}`,
  );
  screen.detail(`exactly this will run: ${JSON.stringify(approval.arguments)}`);
  screen.detail(`resources: ${approval.resources.join(', ') || 'none'}; because of: ${approval.reasons.join(', ')}`);
  screen.detail(
    `origins: ${Object.entries(approval.origins)
      .map(([path, origin]) => `${path} ← ${origin}`)
      .join(', ')}`,
  );
  screen.detail(`digest ${approval.digest}, expires ${approval.expiresAt}`);
  const approved = screen.interactive ? await screen.ask('Approve?') : true;
  if (!screen.interactive)
    screen.step(`no terminal to ask: the second principal ${callers.approverId} approves by itself`);
  const decision = approved ? 'approved' : 'rejected';
  await callers.approver.post(
    `/v1/approvals/${approval.approvalId}/decision`,
    {
      decision,
      digest: approval.digest,
      reason: screen.interactive ? 'decided at the terminal' : 'demo: approved by the second principal',
    },
    { key: `decide-${approval.approvalId}` },
  );
  screen.step(`${decision} by ${callers.approverId}`);
  return { approvalId: approval.approvalId, decision, approver: callers.approverId };
}
