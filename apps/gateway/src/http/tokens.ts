/** Injection tokens of the door's providers. */
export const ACCESS = Symbol('Access');
export const INTAKE = Symbol('GatewayIntake');
export const RUN_COMMANDS = Symbol('RunCommands');
export const VIEWS = Symbol('RunViews');
export const READS = Symbol('Reads');
export const APPROVAL_DESK = Symbol('ApprovalDesk');
export const UNKNOWN_DESK = Symbol('UnknownDesk');
export const STANDING_DESK = Symbol('StandingDesk');
export const TOOLS = Symbol('ToolCatalogue');
export const BODY_LIMITS = Symbol('BodyLimits');
export const VERSION = Symbol('version');
export const STREAMS = Symbol('RunStreams');
export const PROGRESS = Symbol('RunProgressReader');
export const STREAM_LIMITS = Symbol('StreamLimits');
export const PUBLISHER = Symbol('ToolPublisher');
