import { describe, expect, test } from '@jest/globals';
import { lintFiles } from '../../support/running/checkout-fixture.js';

describe('layers', () => {
  test('a domain file that imports the framework is named', async () => {
    const outcome = await lintFiles('layers', {
      'src/domain/gate/decide.ts': `import { Injectable } from '@nestjs/common';\nexport const decide = Injectable;\n`,
    });
    expect(outcome).toEqual({ passed: false, findings: ['src/domain/gate/decide.ts domain-is-pure'] });
  });

  test('a domain file that imports only a type from the platform is named', async () => {
    const outcome = await lintFiles('layers', {
      'src/domain/gate/decide.ts':
        `import type { Tx } from '../../platform/database/tx.js';\nexport type Decide = (tx: Tx) => void;\n`,
      'src/platform/database/transaction/tx.ts': 'export interface Tx { id: string }\n',
    });
    expect(outcome.findings).toEqual(['src/domain/gate/decide.ts domain-is-pure']);
  });

  test('a domain file may use node:crypto, its neighbours and the pure libraries', async () => {
    const outcome = await lintFiles('layers', {
      'src/domain/hash.ts': [
        `import { createHash } from 'node:crypto';`,
        `import canonicalize from 'canonicalize';`,
        `import { prefix } from './prefix.js';`,
        'export const hash = (value: string) => createHash(prefix).update(String(canonicalize(value)));',
      ].join('\n'),
      'src/domain/prefix.ts': `export const prefix = 'sha256';\n`,
      'node_modules/canonicalize/package.json': '{"name":"canonicalize","version":"4.0.0","main":"index.js"}',
      'node_modules/canonicalize/index.js': 'module.exports = JSON.stringify;\n',
    });
    expect(outcome).toEqual({ passed: true, findings: [] });
  });

  test('a domain file that reads a file is named', async () => {
    const outcome = await lintFiles('layers', {
      'src/domain/read.ts': `import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n`,
    });
    expect(outcome.findings).toEqual(['src/domain/read.ts domain-is-pure']);
  });

  test('a file of the SDK that imports one of the server, or a package, is named', async () => {
    const outcome = await lintFiles('layers', {
      'sdk/src/gate.ts': `import type { Mode } from '../../src/domain/mode.js';\nexport type Gate = Mode;\n`,
      'sdk/src/hash.ts': `import canonicalize from 'canonicalize';\nexport const hash = canonicalize;\n`,
      'src/domain/mode.ts': `export type Mode = 'auto';\n`,
      'node_modules/canonicalize/package.json': '{"name":"canonicalize","version":"4.0.0","main":"index.js"}',
      'node_modules/canonicalize/index.js': 'module.exports = JSON.stringify;\n',
    });
    expect(outcome.findings).toEqual(['sdk/src/gate.ts sdk-stands-alone', 'sdk/src/hash.ts sdk-stands-alone']);
  });

  test('two modules that import each other: the arrow that is not in the graph is named, and the cycle', async () => {
    const outcome = await lintFiles('layers', {
      'src/modules/gate/admit.service.ts': `import { open } from '../hitl/open.service.js';\nexport const admit = () => open;\n`,
      'src/modules/hitl/open.service.ts': `import { admit } from '../gate/admit.service.js';\nexport const open = () => admit;\n`,
    });
    expect(outcome.findings).toContain('src/modules/hitl/open.service.ts arrows-of-hitl');
    expect(outcome.findings).not.toContain('src/modules/gate/admit.service.ts arrows-of-gate');
    expect(outcome.findings.some((finding) => finding.endsWith(' no-cycles'))).toBe(true);
  });

  test('arrows are followed: hitl may import what authority stands on', async () => {
    const outcome = await lintFiles('layers', {
      'src/modules/hitl/open.service.ts': `import { a } from '../capabilities/grant.query.js';\nexport const open = a;\n`,
      'src/modules/capabilities/grant.query.ts': 'export const a = 1;\n',
    });
    expect(outcome).toEqual({ passed: true, findings: [] });
  });

  test('the platform knows no module, a module no application, a migration no module, a test no application', async () => {
    const value = 'export const value = 1;\n';
    const use = (from: string) => `import { value } from '${from}';\nexport const used = value;\n`;
    const outcome = await lintFiles('layers', {
      'src/app.module.ts': value,
      'src/modules/agents/agent.store.ts': value,
      'src/platform/outbox/outbox.ts': use('../../modules/agents/agent.store.js'),
      'src/modules/teams/team.service.ts': use('../../app.module.js'),
      'migrations/1-create.ts': use('../src/modules/agents/agent.store.js'),
      'test/api/agents/agents.test.ts': use('../../../src/app.module.js'),
    });
    expect(outcome.findings.sort()).toEqual([
      'migrations/1-create.ts migrations-are-frozen',
      'src/modules/teams/team.service.ts modules-below-the-application',
      'src/platform/outbox/outbox.ts platform-below-modules',
      'test/api/agents/agents.test.ts tests-start-the-built-server',
    ]);
  });

  test('a barrel is named where it is imported', async () => {
    const outcome = await lintFiles('layers,structure', {
      'src/domain/gate/index.ts': 'export const value = 1;\n',
      'src/domain/decide.ts': `import { value } from './gate/index.js';\nexport const used = value;\n`,
    });
    expect(outcome.findings.sort()).toEqual(['src/domain/decide.ts no-barrels', 'src/domain/gate/index.ts no-barrels']);
  });
});
