/**
 * Why: limits of the request rate hold over all servers together. Each leases a part of a caller's quota and counts in its own memory,
 * so that a call costs no write. Unlogged: after a crash of the database the minute begins anew, and nothing else depends on it.
 */
const TABLE = [
  // Of the installation, not of an organization: an address belongs to nobody.
  `create unlogged table rate_quotas (
    subject text collate "C" primary key,
    until   timestamptz(3) not null,
    taken   integer not null
  ) with (fillfactor = 50)`,
  `create index rate_quotas_spent on rate_quotas (until)`,
];

/**
 * Takes up to `p_wanted` of what is left of a subject's quota in the present window.
 * Answers how much was granted (0: nothing is left), how much is taken by everyone, and when the window ends, in milliseconds.
 */
const LEASE_QUOTA = `
create function lease_quota_v1(p_subject text, p_limit integer, p_wanted integer, p_window_seconds integer)
returns table (granted integer, taken integer, ends_in_ms integer) language plpgsql volatile as $$
declare
  v_now timestamptz := clock_timestamp();
  v_before integer;
  v_until timestamptz;
begin
  loop
    insert into rate_quotas (subject, until, taken) values (p_subject, v_now + make_interval(secs => p_window_seconds), 0)
    on conflict do nothing;
    select q.taken, q.until into v_before, v_until from rate_quotas q where q.subject = p_subject for update;
    exit when found;
    -- The janitor took the row in between: once more.
  end loop;
  if v_until <= v_now then
    v_before := 0;
    v_until := v_now + make_interval(secs => p_window_seconds);
  end if;
  granted := greatest(0, least(p_wanted, p_limit - v_before));
  taken := v_before + granted;
  update rate_quotas q set taken = v_before + granted, until = v_until where q.subject = p_subject;
  ends_in_ms := ceil(extract(epoch from v_until - v_now) * 1000);
  return next;
end $$`;

export const QUOTAS = [...TABLE, LEASE_QUOTA];
