import { anonymous, asAgent, asRoot } from '../../support/http/actors.js';
import { eventsOf } from '../../support/log/entries.js';
import { anAgent } from '../../support/builders/agents.js';
import type { Proof } from '../../support/proofs/proof.js';
import { startServer } from '../../support/servers/server.js';

const ACTIVATE = '/api/v1/node/activate';

/** Everybody redeems one setup token at once, over two servers: one of them is given a token, and the log knows of one. */
export const proof: Proof = {
  name: 'activation-race',
  title: 'However many nodes redeem a setup token at once, on whichever server, one is activated.',
  longCount: 1_000,
  needs: 'database',
  run: async ({ count, progress }) => {
    const coverage = { activated: 0, refused: 0 };
    const one = await startServer();
    try {
      const other = await startServer({ replicaOf: one });
      try {
        const agent = await anAgent(one).granted('web.search').create();
        const token = (await asRoot(one).post(`/api/v1/agents/${agent.id}/setup-token`)).expect(201).text('setupToken');
        let answered = 0;
        const answers = await Promise.all(Array.from({ length: count }, async (_, n) => {
          const answer = await anonymous(n % 2 === 0 ? one : other).post(ACTIVATE, { token, nodeId: `node-${n}` });
          progress(++answered);
          return answer;
        }));
        const given: string[] = [];
        for (const answer of answers) {
          if (answer.status === 200) given.push(answer.text('token'));
          // 503: no connection could be had in time, and nothing was done.
          else if (answer.status !== 503) answer.expect(401, 'UNAUTHENTICATED');
        }
        coverage.activated = given.length;
        coverage.refused = count - given.length;
        const events = await eventsOf(one, agent.id);
        const written = events.filter((event) => event === 'agent.node_activated').length;
        if (given.length !== 1 || written !== 1) {
          return { checked: count, counterexample: `${given.length} were given a token, the log names ${written}`, coverage };
        }
        (await asAgent(other, given[0]!).post('/api/v1/execute', { capability: 'web.search' })).expect(200);
        const late = await anonymous(other).post(ACTIVATE, { token, nodeId: 'late' });
        return { checked: count, ...(late.status === 401 ? {} : { counterexample: `a late one was answered ${late.status}` }), coverage };
      } finally {
        await other.stop();
      }
    } finally {
      await one.stop();
    }
  },
};
