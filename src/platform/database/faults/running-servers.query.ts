import type { DataSource } from 'typeorm';

/** Servers of one version that have shown a sign of life in the last ten seconds. */
export interface ServerSeen {
  readonly version: string;
  readonly count: number;
}

/** By version; none where the database was never set up. */
export async function runningServers(dataSource: Pick<DataSource, 'query'>): Promise<ServerSeen[]> {
  const [there] = await dataSource.query<[{ exists: boolean }]>(`select to_regclass('server_heartbeats') is not null as exists`);
  if (!there.exists) return [];
  return dataSource.query<ServerSeen[]>(`select version, count(*)::integer as count from server_heartbeats
    where beat_at > clock_timestamp() - interval '10 seconds' group by version order by version`);
}
