const DATE = String.raw`(\d{4})-(\d{2})-(\d{2})`;
const DATE_TIME = new RegExp(String.raw`^${DATE}[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|([+-])(\d{2}):(\d{2}))$`);
const BARE_DATE = new RegExp(`^${DATE}$`);

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');
const DAY_MS = 86_400_000;

/**
 * An ISO 8601 date-time with its zone (RFC 3339; seconds may be left out) as an instant, cut to milliseconds. Instants
 * outside the years 1 to 9999 (UTC) are refused: the database could hold some of them, our texts none.
 * @returns undefined when the text is not one, or names a day or an hour that does not exist.
 */
export function parseTimestamp(text: string): Date | undefined {
  const match = DATE_TIME.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second = '00', fraction = '', , sign, zoneHour = '00', zoneMinute = '00'] = match;
  if (hour! > '23' || minute! > '59' || second > '59' || zoneHour > '23' || zoneMinute > '59') return undefined;
  const midnight = utcMidnight(year!, month!, day!);
  if (midnight === undefined) return undefined;
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + milliseconds;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  return within(local - offset);
}

/** A bare date as its first or last millisecond in UTC: bounds of a period include both days that they name. */
export function parseDate(text: string, edge: 'start' | 'end'): Date | undefined {
  const match = BARE_DATE.exec(text);
  const midnight = match === null ? undefined : utcMidnight(match[1]!, match[2]!, match[3]!);
  if (midnight === undefined) return undefined;
  return within(edge === 'start' ? midnight : midnight + DAY_MS - 1);
}

function utcMidnight(year: string, month: string, day: string): number | undefined {
  const date = new Date(`${year}-${month}-${day}T00:00:00.000Z`);
  // 30 February becomes 1 or 2 March, or nothing at all, depending on the engine.
  const exists = date.getUTCDate() === Number(day) && date.getUTCMonth() + 1 === Number(month);
  return exists ? date.getTime() : undefined;
}

function within(time: number): Date | undefined {
  return time >= EARLIEST && time <= LATEST ? new Date(time) : undefined;
}
