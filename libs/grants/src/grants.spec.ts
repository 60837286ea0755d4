import { createHmac, sign } from 'node:crypto';
import { CompactSign, importJWK } from 'jose';
import fc from 'fast-check';
import { callIdOf, digestText, InfrastructureError, newId } from '#kernel';
import {
  generateSigningKey,
  grantId,
  GRANT_ISSUER,
  GRANT_TYPE,
  importSigningKey,
  KeyRing,
  mintGrant,
  verifyGrant,
  type GrantClaims,
  type PublicKeyJwk,
} from '#grants';

const jwk = generateSigningKey();
const key = importSigningKey(jwk);
const ring = new KeyRing();
ring.add(key.publicJwk);

const run = newId('run');
const claims: GrantClaims = {
  jti: grantId(callIdOf(run, 1), 1),
  tenant: 'acme',
  runId: run,
  callId: callIdOf(run, 1),
  principal: 'user:alice',
  tool: 'tickets.create@1.0.0',
  contractDigest: digestText('t', 'c'),
  argsDigest: digestText('t', 'a'),
  resources: ['ticket:1'],
  effectClass: 'call',
  operationKey: 'acme/user:alice/task-1',
  policyDigest: digestText('t', 'p'),
  decisionId: 'dec_1',
  decisionNo: 1,
  approvalId: 'appr_1',
  approvers: ['user:bob'],
  journalEpoch: 1,
  aud: 'default',
  iat: 1_000,
  exp: 1_030,
};
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const honestHeader = { alg: 'EdDSA', kid: key.kid, typ: GRANT_TYPE };
const honestPayload = { iss: GRANT_ISSUER, sub: claims.principal, ...claims };
const signed = (header: object, payload: object): string => {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
};
const refused = { code: 'GRANT_INVALID' };

describe('grants (G2, G3)', () => {
  it('what policy signed, an executor reads, expired or not: expiry is the journal’s question', async () => {
    expect(await verifyGrant(mintGrant(claims, key), ring)).toEqual({ claims, kid: key.kid });
  });

  it('speaks the same JWS as jose', async () => {
    const token = await new CompactSign(Buffer.from(JSON.stringify(honestPayload)))
      .setProtectedHeader(honestHeader)
      .sign(await importJWK({ ...jwk } as Record<string, string> & { kty: string }, 'EdDSA'));
    expect((await verifyGrant(token, ring)).claims).toEqual(claims);
    expect(mintGrant(claims, key)).toBe(token);
  });

  it('any changed character refuses (property)', async () => {
    const token = mintGrant(claims, key);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+';
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...alphabet), async (at, char) => {
        fc.pre(token[at] !== char);
        await expect(verifyGrant(token.slice(0, at) + char + token.slice(at + 1), ring)).rejects.toMatchObject(refused);
      }),
      { numRuns: 300 },
    );
  });

  it('any other text refuses (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.array(fc.string(), { minLength: 3, maxLength: 3 }).map((a) => a.join('.')),
        ),
        async (text) => {
          await expect(verifyGrant(text, ring)).rejects.toMatchObject(refused);
        },
      ),
    );
  });

  it.each(Object.keys(claims).filter((name) => !['approvalId', 'approvers'].includes(name)))(
    'a signed token without %s refuses',
    async (name) => {
      const { [name as keyof GrantClaims]: _gone, ...rest } = claims;
      await expect(
        verifyGrant(signed(honestHeader, { iss: GRANT_ISSUER, sub: claims.principal, ...rest }), ring),
      ).rejects.toMatchObject(refused);
    },
  );

  it.each([
    ['another issuer', { ...honestPayload, iss: 'someone' }],
    ['another subject', { ...honestPayload, sub: 'user:mallory' }],
    ['a list of audiences', { ...honestPayload, aud: ['default', 'other'] }],
  ])('a signed token with %s refuses', async (_name, payload) => {
    await expect(verifyGrant(signed(honestHeader, payload), ring)).rejects.toMatchObject(refused);
  });

  it.each([
    ['alg none', { ...honestHeader, alg: 'none' }],
    ['alg Ed25519', { ...honestHeader, alg: 'Ed25519' }],
    ['another typ', { ...honestHeader, typ: 'jwt' }],
    ['no typ', { alg: 'EdDSA', kid: key.kid }],
    ['no kid', { alg: 'EdDSA', typ: GRANT_TYPE }],
    ['an unknown kid', { ...honestHeader, kid: 'other' }],
    ['an embedded jwk', { ...honestHeader, jwk: key.publicJwk }],
    ['a jku', { ...honestHeader, jku: 'https://example.org/keys' }],
    ['an x5u', { ...honestHeader, x5u: 'https://example.org/cert' }],
    ['a crit', { ...honestHeader, crit: ['exp'] }],
  ])('a token with %s refuses, although its signature fits', async (_name, header) => {
    await expect(verifyGrant(signed(header, honestPayload), ring)).rejects.toMatchObject(refused);
  });

  it('an unsigned token and one signed by HMAC with the public key refuse', async () => {
    const none = `${part({ ...honestHeader, alg: 'none' })}.${part(honestPayload)}.`;
    await expect(verifyGrant(none, ring)).rejects.toMatchObject(refused);
    const text = `${part({ ...honestHeader, alg: 'HS256' })}.${part(honestPayload)}`;
    const mac = createHmac('sha256', Buffer.from(key.publicJwk.x, 'base64url')).update(text).digest('base64url');
    await expect(verifyGrant(`${text}.${mac}`, ring)).rejects.toMatchObject(refused);
  });

  it('an embedded key of a forger does not verify the forger’s token', async () => {
    const forger = importSigningKey(generateSigningKey());
    await expect(verifyGrant(mintGrant(claims, forger), ring)).rejects.toMatchObject(refused);
  });

  it('a longer life than a minute cannot be minted', () => {
    expect(() => mintGrant({ ...claims, exp: claims.iat + 61 }, key)).toThrow(RangeError);
    expect(() => mintGrant({ ...claims, exp: claims.iat }, key)).toThrow(RangeError);
  });
});

describe('the key ring', () => {
  const other = importSigningKey(generateSigningKey());

  it('asks policy for an unknown key, once for many askers, at most every 5 s', async () => {
    let now = 0;
    let asked = 0;
    let keys: PublicKeyJwk[] = [];
    const mine = new KeyRing({ now: () => now, fetch: () => Promise.resolve({ keys, n: asked++ }) });
    await Promise.all([mine.find('a'), mine.find('b'), mine.find('c')]);
    expect(asked).toBe(1);
    keys = [other.publicJwk];
    now = 4_999;
    expect(await mine.find(other.kid)).toBeUndefined();
    now = 5_000;
    expect(await mine.find(other.kid)).toBeDefined();
    expect(asked).toBe(2);
    expect(await mine.find(other.kid)).toBeDefined();
    expect(asked).toBe(2);
  });

  it('an unreachable policy holds the work instead of refusing it', async () => {
    const mine = new KeyRing({ fetch: () => Promise.reject(new InfrastructureError('policy is away')) });
    await expect(verifyGrant(mintGrant(claims, key), mine)).rejects.toBeInstanceOf(InfrastructureError);
  });

  it('a revoked key refuses at once, and a later fetch does not bring it back', async () => {
    const mine = new KeyRing({ fetch: () => Promise.resolve({ keys: [key.publicJwk] }) });
    const token = mintGrant(claims, key);
    await verifyGrant(token, mine);
    mine.revoke(key.kid);
    await expect(verifyGrant(token, mine)).rejects.toMatchObject(refused);
    const told = new KeyRing({ fetch: () => Promise.resolve({ keys: [key.publicJwk], revoked: [key.kid] }) });
    await expect(verifyGrant(token, told)).rejects.toMatchObject(refused);
  });

  it('a kid that is not the thumbprint of its key is no key', () => {
    expect(() => new KeyRing().add({ ...key.publicJwk, kid: 'x' })).toThrow(TypeError);
    expect(() => importSigningKey({ ...jwk, d: generateSigningKey().d })).toThrow();
  });
});
