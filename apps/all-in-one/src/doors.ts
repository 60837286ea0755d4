import { executorDoor } from '../../executor/src/executor.module.ts';
import { gatewayDoor } from '../../gateway/src/gateway.module.ts';
import { modelAdapterDoor } from '../../model-adapter/src/model-adapter.module.ts';
import { orchestratorDoor } from '../../orchestrator/src/orchestrator.module.ts';
import { policyDoor } from '../../policy/src/policy.module.ts';
import { stateStoreDoor } from '../../state-store/src/state-store.module.ts';
import { telemetryDoor } from '../../telemetry/src/telemetry.module.ts';

/** All seven services of an installation, for hosting them in one process. */
export const allDoors = [
  gatewayDoor,
  orchestratorDoor,
  modelAdapterDoor,
  policyDoor,
  executorDoor,
  stateStoreDoor,
  telemetryDoor,
];
