import { EXTERNAL_CHANNELS } from '../../domain/notifications/events.js';
import { HITL_MODES } from '../../domain/gate/vocabulary.js';
import { FAULT_DETAILS } from '../http/reply/database-faults.js';

/** A label's values: a closed list, or in words where it is long. None grows with organizations, agents, capabilities or calls. */
type LabelValues = readonly string[] | string;

interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

const FAULTS = Object.keys(FAULT_DETAILS);
const CALL_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WAIT_BUCKETS = [1, 10, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, DAY, 3 * DAY, 7 * DAY];

/** Every metric of our own: `docs/metrics.md` is made of it, and nothing else is counted, observed or read. */
export const METRICS = {
  countersign_info: {
    type: 'gauge', help: 'Always 1: the version of this server, and the newest migration that it knows.',
    labels: { version: 'the version', schema: 'the migration' },
  },
  countersign_gate_calls_total: {
    type: 'counter', help: 'Calls that the gate has judged. `error`: a problem of another kind than a refusal, a 503 among them.',
    labels: {
      mode: [...HITL_MODES, 'none'],
      outcome: ['executed', 'started', 'pending', 'blocked', 'dry_run', 'refused', 'replay', 'error'],
    },
  },
  countersign_http_request_seconds: {
    type: 'histogram',
    help: 'From a request to the end of its answer. Without event streams, and calls that asked to wait and got what they waited for.',
    labels: { method: 'the HTTP method', route: 'the pattern of the route, or `none`', status: ['1xx', '2xx', '3xx', '4xx', '5xx'] },
    buckets: CALL_BUCKETS,
  },
  countersign_runtime_calls_total: {
    type: 'counter', help: 'Executions that a runtime has ended. `indeterminate`: it may have acted, and nobody knows.',
    labels: { runtime: ['connector', 'webhook', 'node', 'llm'], outcome: ['executed', 'failed', 'indeterminate', 'elsewhere'] },
  },
  countersign_decision_wait_seconds: {
    type: 'histogram', help: 'From a request for approval to its decision or end; its count is that of decisions.',
    labels: { outcome: ['approved', 'rejected', 'timed_out', 'cancelled'], by: ['human', 'timeout', 'system'] },
    buckets: WAIT_BUCKETS,
  },
  countersign_open_requests: { type: 'gauge', help: 'Requests that wait for a decision; 100,000 stands for more.', labels: {} },
  countersign_oldest_open_request_age_seconds: { type: 'gauge', help: 'Age of the oldest of them; 0 without any.', labels: {} },
  countersign_outbox_lag_seconds: {
    type: 'gauge', help: 'For how long the earliest effect that is due has waited for a worker; 0 without any.',
    labels: { kind: 'the kind of effect' },
  },
  countersign_parked_effects: { type: 'gauge', help: 'Effects that were given up, or wait for a part that is not set up.', labels: {} },
  countersign_deliveries_waiting: { type: 'gauge', help: 'Deliveries to channels that wait; 10,000 stands for more.', labels: {} },
  countersign_channel_deliveries_total: {
    type: 'counter', help: 'Attempts to deliver a notification.',
    labels: { channel: [...EXTERNAL_CHANNELS], outcome: ['delivered', 'retry', 'dead', 'gone', 'error'] },
  },
  countersign_leader: { type: 'gauge', help: '1 on the server that integrates leaves, signs and publishes; else 0.', labels: {} },
  countersign_integrator_queued_leaves: {
    type: 'gauge', help: 'Audit entries that are in no tree yet, of the first 10,000 commits.', labels: {},
  },
  countersign_checkpoint_age_seconds: { type: 'gauge', help: 'Since the newest signed checkpoint of the platform\'s tree.', labels: {} },
  countersign_unanchored_seconds: {
    type: 'gauge', help: 'For how long entries have stood that not every anchor knows; 0: there are none.', labels: {},
  },
  countersign_sweeps_total: {
    type: 'counter', help: 'Rounds of what time ends: requests, abandoned executions, tasks that are over, spent rows.',
    labels: { sweep: ['requests', 'executions', 'tasks', 'spent_rows'], outcome: ['done', 'failed'] },
  },
  countersign_pool_connections: {
    type: 'gauge', help: 'Connections to the database: of calls, and of the reserve that no call can use up.',
    labels: { pool: ['calls', 'reserve'], state: ['busy', 'idle'] },
  },
  countersign_pool_waiting: { type: 'gauge', help: 'Work that waits for a connection.', labels: { pool: ['calls', 'reserve'] } },
  countersign_database_faults_total: {
    type: 'counter',
    help: 'Errors of the database that keep calls from it, by their runbook; `lock-held` is a wait for a lock that was too long.',
    labels: { fault: FAULTS },
  },
  countersign_database_last_fault_timestamp_seconds: {
    type: 'gauge', help: 'When the last one came, in Unix time; absent where none has come.', labels: { fault: FAULTS },
  },
  countersign_database_write_age_seconds: {
    type: 'gauge', help: 'Since this server last wrote its row in `server_heartbeats`; every 2 s where all is well.', labels: {},
  },
  countersign_clock_skew_seconds: {
    type: 'gauge', help: 'Between this server\'s clock and the database\'s; past 2 s it is not ready.', labels: {},
  },
  countersign_maintenance: { type: 'gauge', help: '1 while this server serves nobody, since its database is held; else 0.', labels: {} },
  countersign_failed_reads_total: {
    type: 'counter', help: 'Gauges that could not be read from the database at a scrape, and are absent from it.',
    labels: { source: 'what was read' },
  },
} as const satisfies Readonly<Record<string, Metric>>;

type Catalogue = typeof METRICS;
export type MetricName = keyof Catalogue;
type NameOf<Type extends Metric['type']> = { [Name in MetricName]: Catalogue[Name]['type'] extends Type ? Name : never }[MetricName];
export type CounterName = NameOf<'counter'>;
export type HistogramName = NameOf<'histogram'>;
export type GaugeName = NameOf<'gauge'>;
export type LabelsOf<Name extends MetricName> = Readonly<Record<keyof Catalogue[Name]['labels'] & string, string>>;

/** As the exposition and its tests see it: without the types of single names. */
export const ALL_METRICS: Readonly<Record<string, Metric>> = METRICS;
