import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { checkPolicies, readPolicyFiles } from './read-policies.ts';

const check = (text: string) => () => checkPolicies([{ file: 'team/policies/a.cedar', prefix: 'team/a', text }]);

describe('policies at the start (G13)', () => {
  it('the default pack is valid, with stable ids', () => {
    expect(Object.keys(checkPolicies(readPolicyFiles([])))).toEqual(
      [
        'tenants-apart',
        'critical-risk',
        'known-tools',
        'own-tenant-reads',
        'declared-undos',
        'low-risk-reversible-writes',
      ].map((id) => `default/${id}`),
    );
  });
  it('every *.cedar file of a workspace is added to the pack', () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'policies-'));
    try {
      mkdirSync(path.join(root, 'team', 'policies'), { recursive: true });
      mkdirSync(path.join(root, 'bare'));
      writeFileSync(
        path.join(root, 'team', 'policies', 'b.cedar'),
        '@id("x") forbid (principal, action, resource);\npermit (principal, action, resource);',
      );
      writeFileSync(path.join(root, 'team', 'policies', 'README.md'), 'not a policy');
      const ids = Object.keys(checkPolicies(readPolicyFiles([path.join(root, 'team'), path.join(root, 'bare')])));
      expect(ids.filter((id) => !id.startsWith('default/'))).toEqual(['team/b/x', 'team/b/2']);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
  it('a policy file that cannot be read stops the start, by name', () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'policies-'));
    try {
      mkdirSync(path.join(root, 'policies'));
      symlinkSync(path.join(root, 'gone.cedar'), path.join(root, 'policies/link.cedar'));
      expect(() => readPolicyFiles([root])).toThrow(/link\.cedar cannot be read \(ENOENT\)/);
    } finally {
      rmSync(root, { recursive: true });
    }
  });
  it('a workspace that is no folder stops the start', () => {
    expect(() => readPolicyFiles(['/nowhere/at/all'])).toThrow(
      /COUNTERSIGN_WORKSPACES: \/nowhere\/at\/all is not a folder/,
    );
  });
  it.each([
    [
      'a syntax error',
      '// é\n\npermit (principal action);',
      /team\/policies\/a\.cedar:3: .*unexpected token `action`; expected/,
    ],
    [
      'an unknown attribute',
      '\npermit (principal, action, resource)\nwhen { context.price == 1 };',
      /a\.cedar:3: .*`price`/,
    ],
    ['a wrong type', 'permit (principal, action, resource) when { context.tainted == "yes" };', /a\.cedar:1: /],
    ['a forbid that never applies', 'forbid (principal, action, resource) when { false };', /a\.cedar:1: .*impossible/],
    ['an unknown action', '\n\npermit (principal, action == Action::"run", resource);', /a\.cedar:3: .*run/],
    [
      'an id that stands twice',
      '@id("a") permit (principal, action, resource);\n@id("a") forbid (principal, action, resource);',
      /a\.cedar:2: the id team\/a\/a stands twice; give/,
    ],
    [
      'a template',
      'permit (principal == ?principal, action, resource);',
      /a\.cedar:1: a template .*without placeholders/,
    ],
  ])('%s stops the start with file, line and remedy', (_name, text, expected) => {
    expect(check(text)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGS', message: expect.stringMatching(expected) as string }),
    );
  });
  it('all faults come in one message', () => {
    expect(
      check(
        'permit (principal, action, resource) when { context.a };\npermit (principal, action, resource) when { context.b };',
      ),
    ).toThrow(/:1: [^]*:2: /);
  });
});
