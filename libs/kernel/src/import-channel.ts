/** node:diagnostics_channel that tells when a module of a workspace is being imported: whoever watches a process that hangs knows where. */
export const IMPORT_CHANNEL = 'countersign:workspace.import';

export interface ImportNews {
  readonly file: string;
  readonly state: 'begun' | 'ended';
}
