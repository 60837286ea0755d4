import type { ToolContract } from '#contracts';
import type { PublishFault } from '../check-publishable.ts';

/** Control, zero-width and direction-changing characters: a reviewer does not see them, a model does. */
const HIDDEN = /[[\p{Cc}\p{Cf}]--[\t\n\r]]/v;
const FIELDS = ['title', 'description', 'whenToUse', 'whenNotToUse'] as const;

/** What a model is told about the tool. */
export function textFaults(contract: ToolContract): PublishFault[] {
  return FIELDS.flatMap((field) => {
    const text = contract[field] as string | undefined;
    const path = `/${field}`;
    if (text === undefined || text.trim() === '') {
      return [{ path, rule: 'required', message: `is empty: a model cannot choose well without it; write a sentence` }];
    }
    if (!HIDDEN.test(text)) return [];
    return [{ path, rule: 'hiddenCharacter', message: 'holds characters that a reviewer cannot see: remove them' }];
  });
}
