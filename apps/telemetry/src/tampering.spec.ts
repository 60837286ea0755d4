import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { signCheckpoint, verifyAudit, type AuditFault, type AuditReport, type Checkpoint } from '#audit';
import { generateSigningKey, importSigningKey } from '#grants';
import type { FactAt } from '../../../libs/contracts/testing/run-facts.ts';
import type { ServiceHarness } from '../../../libs/runtime/testing/service-harness.ts';
import {
  allPublished,
  checkpointsOf,
  factsOfRuns,
  keysOf,
  openTelemetry,
  RECORDS_OF_RUN,
  reduceFacts,
  storedTexts,
  verifyStore,
} from '../testing/ledger-fixture.ts';
import { digestOfEvent } from './domain/chain-events.ts';

const RUNS = 3;
const SIZE = RUNS * RECORDS_OF_RUN;
/** A record in the middle of a run that no completeness hangs on: call.decided. */
const MIDDLE = 3;

describe('a ledger that was tampered with', () => {
  let telemetry: ServiceHarness;
  beforeAll(async () => {
    telemetry = await openTelemetry();
  });
  afterAll(() => telemetry.close());

  let tenants = 0;
  /** A real ledger of three runs, signed after the second and at its end. */
  const ledger = async (facts?: (tenant: string) => FactAt[]): Promise<string> => {
    const tenant = `acme-${++tenants}`;
    const all = facts ? facts(tenant) : factsOfRuns(tenant, RUNS);
    const half = Math.floor((all.length * 2) / 3);
    await reduceFacts(telemetry, all.slice(0, half));
    await checkpointsOf(telemetry, tenant);
    await reduceFacts(telemetry, all.slice(half));
    await checkpointsOf(telemetry, tenant);
    return tenant;
  };
  const change = (text: string, ...values: unknown[]): Promise<number> => telemetry.database.change({ text, values });
  const edit = (tenant: string, seq: number, from: string, to: string): Promise<number> =>
    change(
      'update audit_record set event = replace(event, $3, $4) where tenant = $1 and seq = $2',
      tenant,
      seq,
      from,
      to,
    );
  const kinds = (report: AuditReport): [string, string, number][] =>
    report.faults.map(({ kind, ledger: name, sequence }: AuditFault) => [kind, name, sequence]);
  /** Of texts, as lines of a file, with the checkpoints of the real ledger. */
  const verifyTexts = async (
    tenant: string,
    texts: readonly string[],
    order: 'store' | 'topic' = 'store',
  ): Promise<AuditReport> =>
    verifyAudit(texts, {
      order,
      keys: await keysOf(telemetry),
      checkpoints: await checkpointsOf(telemetry, tenant),
    });
  /** Gives the records new numbers and links, as one does who can write the store and knows the rules. */
  const chainAnew = (texts: readonly string[]): string[] => {
    let previous = '';
    return texts.map((text, i) => {
      const { previousdigest: _, ...event } = JSON.parse(text) as Record<string, unknown>;
      const { data, ...rest }: Record<string, unknown> = { ...event, sequence: String(i + 1) };
      const anew = JSON.stringify({ ...rest, ...(previous === '' ? {} : { previousdigest: previous }), data });
      previous = digestOfEvent(anew);
      return anew;
    });
  };

  it('untouched, it verifies: from the store, from a file, and signed to its last record (G11)', async () => {
    const tenant = await ledger();
    const report = await verifyStore(telemetry, tenant);
    expect(report).toEqual({
      verified: true,
      records: SIZE,
      tenants: [{ tenant, records: SIZE, signed: SIZE, runs: RUNS, openRuns: 0, calls: RUNS * 3 }],
      ledgers: [
        {
          ledger: `${tenant}/0`,
          size: SIZE,
          head: digestOfEvent((await storedTexts(telemetry, tenant)).at(-1)!),
          checkpoints: 2,
          signedUpTo: SIZE,
        },
      ],
      faults: [],
      faultCount: 0,
    });
    expect(await verifyTexts(tenant, await storedTexts(telemetry, tenant))).toEqual(report);
    expect(chainAnew(await storedTexts(telemetry, tenant))).toEqual(await storedTexts(telemetry, tenant));
  });

  it('untouched, it verifies from a topic: partitions interleaved in any way, deliveries repeated (G11)', async () => {
    const tenants = [await ledger(), await ledger()];
    const texts = (await Promise.all(tenants.map((tenant) => storedTexts(telemetry, tenant)))).flat();
    const checkpoints = (await Promise.all(tenants.map((tenant) => checkpointsOf(telemetry, tenant)))).flat();
    const keys = await keysOf(telemetry);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...texts, ...texts], { minLength: texts.length * 2 }),
        async (delivered) => {
          const report = await verifyAudit(delivered, { order: 'topic', keys, checkpoints });
          expect([report.faults, report.records]).toEqual([[], texts.length]);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('deleted: a record in the middle', async () => {
    const tenant = await ledger();
    await change('delete from audit_record where tenant = $1 and seq = $2', tenant, MIDDLE);
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([['deleted', `${tenant}/0`, MIDDLE]]);
  });

  it('deleted: the beginning, and a span', async () => {
    const tenant = await ledger();
    await change('delete from audit_record where tenant = $1 and (seq = 1 or seq between 7 and 9)', tenant);
    const { faults } = await verifyStore(telemetry, tenant);
    expect(faults).toContainEqual(expect.objectContaining({ kind: 'deleted', ledger: `${tenant}/0`, sequence: 1 }));
    expect(faults).toContainEqual({
      kind: 'deleted',
      ledger: `${tenant}/0`,
      sequence: 7,
      detail: 'records 7 to 9 are missing before record 10',
    });
  });

  it('deleted, and the rest moved up and chained anew: the signed head tells', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const without = chainAnew(texts.toSpliced(MIDDLE - 1, 1));
    const [first] = await checkpointsOf(telemetry, tenant);
    expect(kinds(await verifyTexts(tenant, without))).toEqual([
      ['rewritten', `${tenant}/0`, first!.size],
      ['truncated', `${tenant}/0`, SIZE],
    ]);
  });

  it.each([
    ['its content', '"decision":"allow"', '"decision":"deny"', MIDDLE],
    ['its time', '"time":"2026', '"time":"2025', 1],
    ['white space alone', '"specversion": ', '"specversion":', 0],
  ])('edited: %s', async (_what, from, to, seq) => {
    const tenant = await ledger();
    if (seq === 0) {
      const texts = await storedTexts(telemetry, tenant);
      const spaced = texts.with(MIDDLE - 1, texts[MIDDLE - 1]!.replace(to, from));
      expect(kinds(await verifyTexts(tenant, spaced))).toEqual([['edited', `${tenant}/0`, MIDDLE]]);
      return;
    }
    expect(await edit(tenant, seq, from, to)).toBe(1);
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([['edited', `${tenant}/0`, seq]]);
  });

  it('edited: its previous digest', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const other = texts[MIDDLE - 1]!.replace(
      /"previousdigest":"sha256:[0-9a-f]{8}/,
      '"previousdigest":"sha256:00000000',
    );
    expect(kinds(await verifyTexts(tenant, texts.with(MIDDLE - 1, other)))).toEqual([
      ['edited', `${tenant}/0`, MIDDLE],
    ]);
  });

  it('edited: the last record, which no other names but the checkpoint', async () => {
    const tenant = await ledger();
    await edit(tenant, SIZE, '"turns":2', '"turns":3');
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([['rewritten', `${tenant}/0`, SIZE]]);
  });

  it('edited, and everything after it chained anew: the signed head tells', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const forged = chainAnew(texts.with(MIDDLE - 1, texts[MIDDLE - 1]!.replace('"allow"', '"deny"')));
    const [first] = await checkpointsOf(telemetry, tenant);
    expect(kinds(await verifyTexts(tenant, forged))).toEqual([['rewritten', `${tenant}/0`, first!.size]]);
  });

  it('reordered: two records changed places in the store', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const swap = 'update audit_record set event = $3 where tenant = $1 and seq = $2';
    await change(swap, tenant, 5, texts[5]);
    await change(swap, tenant, 6, texts[4]);
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([['reordered', `${tenant}/0`, 5]]);
  });

  it('reordered: two records changed places and numbers', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const [five, six] = [texts[4]!, texts[5]!];
    const swapped = texts
      .with(4, six.replace('"sequence":"6"', '"sequence":"5"'))
      .with(5, five.replace('"sequence":"5"', '"sequence":"6"'));
    expect(kinds(await verifyTexts(tenant, swapped))).toEqual([['reordered', `${tenant}/0`, 6]]);
  });

  it('truncated: the newest records are gone', async () => {
    const tenant = await ledger();
    await change('delete from audit_record where tenant = $1 and seq > $2', tenant, SIZE - RECORDS_OF_RUN);
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([
      ['truncated', `${tenant}/0`, SIZE - RECORDS_OF_RUN + 1],
    ]);
  });

  it('truncated: everything is gone, the account of it too; telemetry signs no smaller ledger', async () => {
    const tenant = await ledger();
    const signed = await checkpointsOf(telemetry, tenant);
    await change('delete from audit_record where tenant = $1', tenant);
    await change(`update ledger set last_seq = 0, last_digest = '', published_seq = 0 where tenant = $1`, tenant);
    await reduceFacts(telemetry, factsOfRuns(tenant, 1));
    expect(await checkpointsOf(telemetry, tenant)).toEqual(signed);
    expect(kinds(await verifyStore(telemetry, tenant))).toContainEqual([
      'truncated',
      `${tenant}/0`,
      RECORDS_OF_RUN + 1,
    ]);
    await change('delete from audit_record where tenant = $1', tenant);
    expect(kinds(await verifyStore(telemetry, tenant))).toEqual([['truncated', `${tenant}/0`, 1]]);
  });

  it('forked: two records of one sequence, in a file and in a topic', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const other = texts[MIDDLE - 1]!.replace('"allow"', '"deny"');
    for (const order of ['store', 'topic'] as const) {
      expect(kinds(await verifyTexts(tenant, texts.toSpliced(MIDDLE, 0, other), order))).toEqual([
        ['forked', `${tenant}/0`, MIDDLE],
      ]);
    }
  });

  it('duplicate: a record twice in a file', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const twice = texts.toSpliced(MIDDLE, 0, texts[MIDDLE - 1]!);
    expect(kinds(await verifyTexts(tenant, twice))).toEqual([['duplicate', `${tenant}/0`, MIDDLE]]);
  });

  it('duplicate: a call with two terminal records, well chained', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const settled = texts.find((text) => text.includes('call.settled'))!;
    const report = await verifyAudit(chainAnew([...texts, settled]), { keys: await keysOf(telemetry) });
    expect(report.faults).toEqual([
      expect.objectContaining({ kind: 'duplicate', detail: expect.stringContaining('more than one terminal record') }),
    ]);
  });

  it('unreadable: what is no record is said to be none', async () => {
    const tenant = await ledger();
    const texts = await storedTexts(telemetry, tenant);
    const { sequence: _, ...unnumbered } = JSON.parse(texts[0]!) as Record<string, unknown>;
    const wild = ['{', '[]', 'null', '7', '{}', JSON.stringify(unnumbered)];
    const far = texts[0]!.replace('"sequence":"1"', '"sequence":"999999999999999"');
    expect(kinds(await verifyTexts(tenant, [...texts, ...wild, far])).map(([kind]) => kind)).toEqual(
      Array.from({ length: 7 }, () => 'unreadable'),
    );
  });
});

describe('a checkpoint that is not to be believed', () => {
  let telemetry: ServiceHarness;
  let texts: string[];
  let keys: unknown[];
  let genuine: Checkpoint;
  beforeAll(async () => {
    telemetry = await openTelemetry();
    await reduceFacts(telemetry, factsOfRuns('acme', 1));
    [genuine] = (await checkpointsOf(telemetry, 'acme')) as [Checkpoint];
    texts = await storedTexts(telemetry, 'acme');
    keys = await keysOf(telemetry);
  });
  afterAll(() => telemetry.close());

  const faultsOf = async (jws: string, trusted = keys): Promise<readonly AuditFault[]> =>
    (await verifyAudit(texts, { keys: trusted, checkpoints: [jws] })).faults;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claimsOf = (jws: string): object =>
    JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString()) as object;

  it('the genuine one is believed (G11)', async () => {
    expect(await faultsOf(genuine.jws)).toEqual([]);
  });

  it('signed by a key that is not among the given', async () => {
    const forged = signCheckpoint(
      importSigningKey(generateSigningKey()),
      { tenant: 'acme', ledgers: genuine.ledgers },
      0,
    );
    expect(await faultsOf(forged.jws)).toEqual([
      expect.objectContaining({ kind: 'signature', ledger: 'acme', sequence: genuine.size }),
    ]);
    const others = [importSigningKey(generateSigningKey()).publicJwk];
    expect(await faultsOf(genuine.jws, others)).toEqual([expect.objectContaining({ kind: 'signature' })]);
  });

  it("signed by another key under the genuine key's name, changed after signing, unsigned, or signed as something else", async () => {
    const [header, payload, signature] = genuine.jws.split('.') as [string, string, string];
    const { privateKey } = generateKeyPairSync('ed25519');
    const resign = (head: string, body: string): string =>
      `${head}.${body}.${sign(null, Buffer.from(`${head}.${body}`), privateKey).toString('base64url')}`;
    const more = part({ ...claimsOf(genuine.jws), size: 1 });
    const kid = genuine.kid;
    for (const jws of [
      resign(header, payload),
      `${header}.${more}.${signature}`,
      `${part({ alg: 'none', kid, typ: 'countersign-checkpoint+jwt' })}.${payload}.`,
      `${part({ alg: 'EdDSA', kid, typ: 'countersign-grant+jwt' })}.${payload}.${signature}`,
      `${header}.${payload}`,
      'nonsense',
    ])
      expect(await faultsOf(jws)).toEqual([expect.objectContaining({ kind: 'signature' })]);
  });

  it('a token of another type or issuer is no checkpoint, though the right key signed it', async () => {
    const key = importSigningKey(generateSigningKey());
    const signed = (typ: string, iss: string): string => {
      const head = part({ alg: 'EdDSA', kid: key.kid, typ });
      const body = part({ ...claimsOf(genuine.jws), iss });
      return `${head}.${body}.${sign(null, Buffer.from(`${head}.${body}`), key.privateKey).toString('base64url')}`;
    };
    const [type, issuer] = ['countersign-checkpoint+jwt', 'countersign-telemetry'];
    expect(await faultsOf(signed(type, issuer), [key.publicJwk])).toEqual([]);
    for (const jws of [signed('JWT', issuer), signed(type, 'countersign-policy')])
      expect(await faultsOf(jws, [key.publicJwk])).toEqual([expect.objectContaining({ kind: 'signature' })]);
  });

  it('a key of a wrong name is refused before anything is read', async () => {
    const jwk = { ...importSigningKey(generateSigningKey()).publicJwk, kid: 'other' };
    await expect(verifyAudit(texts, { keys: [jwk] })).rejects.toThrow('kid is not the thumbprint');
  });

  it('without keys no checkpoint is believed, and the report says that nothing is signed', async () => {
    const report = await verifyAudit(texts, { checkpoints: [genuine] });
    expect(report).toMatchObject({ verified: true, ledgers: [{ checkpoints: 0, signedUpTo: 0 }] });
  });

  it('forked: one key signed two heads of one size, in two stores', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-key-'));
    const file = join(folder, 'audit.pem');
    await writeFile(file, generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const env = { COUNTERSIGN_AUDIT_KEY_FILE: file };
    const [one, two] = await Promise.all([openTelemetry({ env }), openTelemetry({ env })]);
    for (const service of [one, two]) await reduceFacts(service, factsOfRuns('acme', 1));
    const checkpoints = [...(await checkpointsOf(one, 'acme')), ...(await checkpointsOf(two, 'acme'))];
    expect(await keysOf(one)).toEqual(await keysOf(two));
    const report = await verifyAudit(await storedTexts(one, 'acme'), { keys: await keysOf(one), checkpoints });
    expect(report.faults).toEqual([
      expect.objectContaining({ kind: 'forked', ledger: 'acme/0', sequence: RECORDS_OF_RUN }),
    ]);
    await Promise.all([one.close(), two.close()]);
    await rm(folder, { recursive: true });
  });

  it('a key file that holds no Ed25519 key stops the start and says what to do (G13)', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'countersign-key-'));
    const file = join(folder, 'audit.pem');
    const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
    for (const [content, why] of [
      [pem, 'another kind than Ed25519'],
      ['not a key', 'no private key in PEM form'],
    ] as const) {
      await writeFile(file, content);
      await expect(openTelemetry({ env: { COUNTERSIGN_AUDIT_KEY_FILE: file } })).rejects.toThrow(why);
    }
    const absent = openTelemetry({ env: { COUNTERSIGN_AUDIT_KEY_FILE: join(folder, 'none.pem') } });
    await expect(absent).rejects.toThrow('openssl genpkey -algorithm ed25519');
    await rm(folder, { recursive: true });
  });

  it('replicas and restarts keep one key; checkpoints go out beside the chain and are enough for a reader of the topic', async () => {
    const again = await openTelemetry({ url: telemetry.url });
    expect(await keysOf(again)).toEqual(keys);
    await again.close();
    await allPublished(telemetry, 'acme');
    const topic = telemetry.published.map((out) => out.raw.value.toString());
    const report = await verifyAudit(topic, { order: 'topic', keys });
    expect(report).toMatchObject({
      verified: true,
      records: RECORDS_OF_RUN,
      ledgers: [{ signedUpTo: RECORDS_OF_RUN }],
    });
  });
});
