import { isRead, toolKey, toolName, type ToolContract, type UndoMapping } from '#contracts';
import { parsePointer } from '#kernel';
import type { PublishFault } from '../check-publishable.ts';
import { propertiesOf, unknownArgument } from './schema.rules.ts';

const undoOf = ({ compensation }: ToolContract): UndoMapping | null =>
  compensation !== undefined && 'tool' in compensation ? compensation : null;

const firstPart = (pointer: string): string | undefined => parsePointer(pointer)[0];

/** What a contract alone shows: the pointers name arguments and fields of the result that there are. */
export function compensationFaults(contract: ToolContract): PublishFault[] {
  if (contract.compensation === undefined) return [];
  const faults: PublishFault[] = [];
  if (isRead(contract)) {
    const message = 'is of no use to a read: leave it out';
    faults.push({ path: '/compensation', rule: 'readWithoutEffect', message });
  }
  const input = propertiesOf(contract.input);
  const output = propertiesOf(contract.output);
  for (const [name, source] of Object.entries(undoOf(contract)?.arguments ?? {})) {
    const path = `/compensation/arguments/${name}`;
    if ('argument' in source) {
      const wanted = firstPart(source.argument);
      if (wanted !== undefined && !Object.hasOwn(input, wanted)) faults.push(unknownArgument(path, wanted, input));
    } else if ('result' in source) {
      const wanted = firstPart(source.result);
      if (wanted !== undefined && Object.keys(output).length > 0 && !Object.hasOwn(output, wanted))
        faults.push({
          path,
          rule: 'known',
          message: `"${wanted}" is not a property of the output: use ${Object.keys(output).join(', ')}`,
        });
    }
  }
  return faults;
}

/** What two contracts show together, where both are published at once: the mapping fits the undo tool's input. */
export function undoFaults(contract: ToolContract, others: readonly ToolContract[]): PublishFault[] {
  const undo = undoOf(contract);
  const tool = undo && others.find((other) => toolKey(other) === undo.tool || toolName(other) === undo.tool);
  if (!tool) return [];
  const faults: PublishFault[] = [];
  if (isRead(tool)) {
    const message = `${undo.tool} is a read: name a tool that takes the effect back`;
    faults.push({ path: '/compensation/tool', rule: 'undo', message });
  }
  const properties = propertiesOf(tool.input);
  const required = Array.isArray(tool.input.required) ? (tool.input.required as string[]) : [];
  for (const name of Object.keys(undo.arguments))
    if (!Object.hasOwn(properties, name) && tool.input.additionalProperties === false)
      faults.push(unknownArgument(`/compensation/arguments/${name}`, name, properties));
  for (const name of required)
    if (!Object.hasOwn(undo.arguments, name) && properties[name]?.default === undefined)
      faults.push({
        path: '/compensation/arguments',
        rule: 'required',
        message: `lacks "${name}", which ${undo.tool} needs: map it from an argument, the result or a value`,
      });
  return [...faults, ...typeFaults(contract, undo, properties)];
}

function typeFaults(
  contract: ToolContract,
  undo: UndoMapping,
  properties: ReturnType<typeof propertiesOf>,
): PublishFault[] {
  return Object.entries(undo.arguments).flatMap(([name, source]): PublishFault[] => {
    const to = properties[name]?.type;
    const pointer = 'argument' in source ? source.argument : 'result' in source ? source.result : null;
    // Only a whole argument or field: deeper ones are judged when they come.
    if (pointer === null || pointer.split('/').length !== 2 || typeof to !== 'string') return [];
    const from = propertiesOf('argument' in source ? contract.input : contract.output)[firstPart(pointer)!]?.type;
    const fits = typeof from !== 'string' || from === to || (from === 'integer' && to === 'number');
    return fits
      ? []
      : [
          {
            path: `/compensation/arguments/${name}`,
            rule: 'type',
            message: `maps ${pointer} (${from}) to "${name}" of ${undo.tool}, which is ${to}: map a value of that type`,
          },
        ];
  });
}
