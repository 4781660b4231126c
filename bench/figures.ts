/** Pages of this origin may call both servers, so that the CORS middleware is in both. */
export const CORS_ORIGIN = 'http://localhost:5173';

/** A capability of our own with an `http` connector, defined before the agents are registered. */
export const CONNECTOR_CAPABILITY = 'bench.order';
/** One whose grants block. */
export const BLOCKED_CAPABILITY = 'bench.blocked';

/** What is governed in one figure, and what each of its calls must leave behind. */
export interface Figure {
  readonly key: 'receipt' | 'key' | 'connector' | 'hot' | 'pending' | 'blocked';
  readonly title: string;
  readonly capability: string;
  /** Which agents call: all, one after the other, or one alone. */
  readonly callers: 'all' | 'one';
  /** By what the agents call the governed server: a token, unless a key is said. */
  readonly by?: 'key';
  /** Measured only where the figure is named. */
  readonly onlyWhenNamed?: true;
  /** Whether its pairs are as many as asked for, or about half. */
  readonly main: boolean;
  /** The ratio to bare that is wanted; absent where none is. */
  readonly goal?: number;
  /** Whether its slowest calls are to be as quick as bare's. */
  readonly hasQuickTail?: true;
  /** Status of each execution afterwards. */
  readonly status: 'executed' | 'pending_hitl' | 'blocked';
  /** Entries that each execution leaves, one of each. */
  readonly events: readonly string[];
}

export const FIGURES: readonly Figure[] = [
  {
    key: 'receipt', title: 'Receipt-only execution (one commit)', capability: 'web.search', callers: 'all', main: true,
    goal: 1.3, hasQuickTail: true, status: 'executed', events: ['execution.started', 'execution.completed'],
  },
  {
    key: 'key', title: 'Receipt-only execution by an agent key', capability: 'web.search', callers: 'all', by: 'key', main: true,
    goal: 1.3, onlyWhenNamed: true, status: 'executed', events: ['execution.started', 'execution.completed'],
  },
  {
    key: 'connector', title: 'Execution through an http connector (two commits, one call between them)',
    capability: CONNECTOR_CAPABILITY, callers: 'all', main: true, goal: 0.75, status: 'executed',
    events: ['execution.started', 'execution.completed'],
  },
  {
    key: 'hot', title: 'One hot agent (every call is ordered by the same row lock)', capability: 'web.search', callers: 'one',
    main: false, goal: 1.2, status: 'executed', events: ['execution.started', 'execution.completed'],
  },
  {
    key: 'pending', title: 'A request that waits for a person', capability: 'email.send', callers: 'all', main: false, goal: 1,
    status: 'pending_hitl', events: ['hitl.created'],
  },
  {
    key: 'blocked', title: 'A call that its grant blocks', capability: BLOCKED_CAPABILITY, callers: 'all', main: true,
    onlyWhenNamed: true, status: 'blocked', events: ['execution.blocked'],
  },
];

/** Some 250 bytes, of the kinds that inputs have. */
export const INPUT = {
  query: 'cold rolled steel sheet 1.5 mm EN 10130 price per tonne',
  supplier: { name: 'Stahlhandel Nord GmbH', country: 'DE', rating: 4.5 },
  quantity: 12,
  unit: 't',
  maxPrice: 940.5,
  deliverBefore: '2027-02-15',
  tags: ['procurement', 'eu', 'steel'],
  dry: false,
} as const;

export function bodyOf(capability: string): string {
  return JSON.stringify({ capability, input: INPUT });
}
