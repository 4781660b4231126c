/** Found in tutorials, templates and default settings; compared without case and punctuation, anywhere in the secret. */
const KNOWN = [
  'changeme', 'changethis', 'changeit', 'replaceme', 'replacethis', 'replacewith', 'yoursecret', 'yourjwt', 'yoursuper',
  'yourkey', 'mysecret', 'mysuper', 'supersecret', 'topsecret', 'jwtsecret', 'secretkey', 'secretsecret', 'defaultsecret',
  'devsecret', 'developmentsecret', 'testsecret', 'insecure', 'placeholder', 'donotuse', 'notforproduction', 'keyboardcat',
  'password', 'passphrase', 'letmein', 'qwertyuiop', 'loremipsum', 'atleast32', 'thisisa', 'countersign',
] as const;

/**
 * Why a secret would be guessed, or undefined. It estimates nothing: it knows published defaults, repeated units and counted
 * sequences, which is what people paste to get past a length check.
 */
export function weaknessOf(secret: string): string | undefined {
  const folded = secret.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (KNOWN.some((known) => folded.includes(known))) return 'contains a well-known default: make a random one';
  if (new Set(secret).size < 8 || hasShortPeriod(secret)) return 'is trivially repetitive: make a random one';
  if (isCounted(secret)) return 'is a plain sequence: make a random one';
  return undefined;
}

/** Whether the text is one unit written twice or more (the last time perhaps cut short). */
function hasShortPeriod(text: string): boolean {
  for (let period = 1; period <= text.length / 2; period += 1) {
    if (text.slice(period) === text.slice(0, text.length - period)) return true;
  }
  return false;
}

/** Whether nearly every character follows its neighbour by the same step, as in `abcdefgh` or `76543210`. */
function isCounted(text: string): boolean {
  const steps = new Map<number, number>();
  for (let at = 1; at < text.length; at += 1) {
    const step = text.charCodeAt(at) - text.charCodeAt(at - 1);
    steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return Math.max(...steps.values()) > (text.length - 1) * 0.75;
}
