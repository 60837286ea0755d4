import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { allTopics, CATALOGUE, message } from '#contracts';
import { ERROR_CODE_NAMES, ERROR_CODES } from '#kernel';
import { platformSettings } from '#runtime';
import { allDoors } from '../../apps/all-in-one/src/doors.ts';
import { auditEntries } from '../../apps/telemetry/src/domain/audit-entries.ts';
import { chainEvents, prepareEntry } from '../../apps/telemetry/src/domain/chain-events.ts';
import { checkpointMessage } from '../../apps/telemetry/src/domain/checkpoint-event.ts';
import { AUDIT_EVENT } from './audit-event.schema.ts';
import { SERVICE_SETTINGS } from './config.page.ts';
import { differences, writeFolder } from './folder.ts';
import { generatedFiles } from './generated-files.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const files = generatedFiles();
const text = (name: string): string => files.get(name)!;

describe('the generated pages', () => {
  it('tell each message with its meaning, topic and readers', () => {
    for (const [type, row] of Object.entries(CATALOGUE)) {
      const [, section = ''] = text('messages.md').split(`\n## ${type}\n`);
      expect([type, section.includes(row.meaning)]).toEqual([type, true]);
      for (const topic of row.topic.split(' | ')) expect(section).toContain(`sends it to \`${topic}\``);
      expect(section).toContain(`read by ${row.consumers.join(', ')}`);
    }
  });

  it('link to headings and anchors that are there', () => {
    const page = text('messages.md');
    const there = new Set([
      ...[...page.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!.toLowerCase()),
      ...[...page.matchAll(/<a id="([^"]+)">/g)].map((match) => match[1]!),
    ]);
    const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1]!);
    expect(links.length).toBeGreaterThan(50);
    expect([...new Set(links.filter((link) => !there.has(link)))]).toEqual([]);
  });

  it('tell each error code with its meaning, class and remedy', () => {
    const rows = text('errors.md').split('\n');
    for (const name of ERROR_CODE_NAMES) {
      const cells = rows.find((row) => row.startsWith(`| \`${name}\` |`))!.split(' | ');
      expect(cells.slice(2, 4)).toEqual([ERROR_CODES[name].meaning, ERROR_CODES[name].retry]);
      expect(cells[4]!.length).toBeGreaterThan(10);
    }
  });

  it('tell each setting of each service', () => {
    expect(Object.keys(SERVICE_SETTINGS).sort()).toEqual(allDoors.map((door) => door.name).sort());
    for (const door of allDoors) {
      const shape = door.settings as Record<string, { description?: string }>;
      expect(Object.keys(SERVICE_SETTINGS[door.name]!)).toEqual(Object.keys(shape));
      for (const [name, { description }] of Object.entries(shape))
        if (!(name in platformSettings)) expect(text('config.md')).toContain(description);
      for (const name of Object.keys(shape)) expect(text('config.md')).toContain(`| \`${name}\` |`);
    }
  });

  it('know every file of settings', () => {
    const page = readFileSync(path.join(import.meta.dirname, 'config.page.ts'), 'utf8');
    const shapes = globSync('apps/*/src/**/*.config.ts', { cwd: ROOT }).filter((file) =>
      /export const \w+Settings/.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    expect(shapes.length).toBeGreaterThanOrEqual(allDoors.length);
    expect(shapes.filter((file) => !page.includes(`'../../${file}'`))).toEqual([]);
  });
});

describe('the AsyncAPI document', () => {
  const document = JSON.parse(text('asyncapi.json')) as {
    channels: Record<string, { address: string; messages: Record<string, unknown> }>;
    operations: Record<string, { messages: { $ref: string }[] }>;
    components: { messages: Record<string, { payload: object }>; schemas: Record<string, object> };
  };
  const refsOf = (value: unknown): string[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, inner]) =>
          name === '$ref' && typeof inner === 'string' ? [inner] : refsOf(inner),
        );

  it('has every topic as a channel, and every message of the catalogue in one', () => {
    const addresses = Object.values(document.channels).map(({ address }) => address.replace('{pool}', 'default'));
    expect(addresses.sort()).toEqual(allTopics(['default']).sort());
    const carried = new Set(Object.values(document.channels).flatMap(({ messages }) => Object.keys(messages)));
    expect([...carried].sort()).toEqual([...Object.keys(CATALOGUE), 'AuditEvent'].sort());
  });

  it('refers only to what it holds, and each message is sent by somebody', () => {
    const resolve = (ref: string): unknown =>
      ref
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
    const refs = [...new Set(refsOf(document))];
    expect(refs.filter((ref) => resolve(ref) === undefined)).toEqual([]);
    const sent = Object.values(document.operations).flatMap(({ messages }) => messages.map(({ $ref }) => $ref));
    const carried = Object.entries(document.channels).flatMap(([id, { messages }]) =>
      Object.keys(messages).map((type) => `#/channels/${id}/messages/${type}`),
    );
    expect(sent.sort()).toEqual(carried.sort());
  });

  it('describes a message as it is made, and refuses one with other data', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', ...document });
    const validate = ajv.compile({ $ref: 'doc#/components/messages/RunResumed/payload' });
    const refused = ajv.compile({ $ref: 'doc#/components/messages/CommandRefused/payload' });
    const context = { tenant: 'dev', runId: `run_${'0'.repeat(26)}`, now: 0 };
    const made = message('CommandRefused', context, { commandId: 'c', code: 'CANCELLED', message: 'late' });
    expect([refused(made), refused.errors]).toEqual([true, null]);
    expect(validate(made)).toBe(false);
    expect(refused({ ...made, data: { commandId: 'c' } })).toBe(false);
  });

  it('describes the records of the audit topic as telemetry makes them', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(AUDIT_EVENT);
    const context = { tenant: 'dev', runId: `run_${'0'.repeat(26)}`, now: 0 };
    const refused = (id: string) => ({
      topic: 'run.events',
      message: message('CommandRefused', context, { commandId: id, code: 'CANCELLED', message: 'late' }),
    });
    const { entries } = auditEntries([refused('a'), refused('b')]);
    const { records } = chainEvents(
      { tenant: 'dev', partition: 0, lastSeq: 0, lastDigest: '' },
      entries.map((entry) => prepareEntry(entry, 1)),
    );
    const checkpoint = { tenant: 'dev', size: 2, ledgers: [], kid: 'k', time: new Date(0).toISOString(), jws: 'j' };
    const events = [...records.map(({ event }) => event), checkpointMessage(checkpoint).value.toString()];
    expect(events).toHaveLength(3);
    for (const event of events) expect([validate(JSON.parse(event)), validate.errors]).toEqual([true, null]);
  });
});

describe('the check', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'countersign-gen-'));
    writeFolder(folder, files);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('finds nothing where everything was just written, and the same text is made again', () => {
    expect(differences(folder, files)).toEqual([]);
    expect([...generatedFiles()]).toEqual([...files]);
  });

  it('names each file that was edited, is missing or does not belong, with its place', () => {
    const edited = text('errors.md').split('\n');
    edited[2] = '# Something else';
    writeFileSync(path.join(folder, 'errors.md'), edited.join('\n'));
    writeFileSync(path.join(folder, 'config.md'), `${text('config.md')}more\n`);
    writeFileSync(path.join(folder, 'old.md'), '');
    rmSync(path.join(folder, 'openapi.json'));
    expect(differences(folder, files)).toEqual([
      'errors.md: is stale from line 3',
      expect.stringMatching(/^config\.md: is stale from line \d+$/),
      'openapi.json: is missing',
      'old.md: is made by nothing',
    ]);
    writeFolder(folder, files);
    expect(differences(folder, files)).toEqual([]);
  });
});
