import { beginsHere, endsHere, isWord, type Scan } from '../scan.js';
import { Syllables } from '../syllables.js';

/** Keys whose issuers gave them a beginning of their own. */
const PREFIXED = new RegExp([
  'sk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,256}', '[sr]k_(?:live|test)_[A-Za-z0-9]{16,256}', 'gh[pousr]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}', 'gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,128}', 'xox[abeprs]-[A-Za-z0-9-]{10,255}',
  'xapp-\\d-[A-Za-z0-9-]{10,255}',
  '(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}', 'AIza[A-Za-z0-9_-]{35}', 'ya29\\.[A-Za-z0-9_-]{20,512}', 'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,255}',
  'hf_[A-Za-z0-9]{30,64}', 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}', 'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}',
  'whsec_[A-Za-z0-9+/=_-]{24,128}',
  'do[oprt]_v1_[a-f0-9]{64}', 'dckr_pat_[A-Za-z0-9_-]{20,64}', 'AGE-SECRET-KEY-1[0-9A-Z]{58}', 'gsk_[A-Za-z0-9]{40,64}',
  'xai-[A-Za-z0-9]{40,128}', 'svc_agent_[a-f0-9]{64}',
  'csk_[A-Za-z0-9_-]{20,128}', 'eyJ[A-Za-z0-9_-]{10,4096}\\.eyJ[A-Za-z0-9_-]{6,4096}(?:\\.[A-Za-z0-9_-]{0,1024})?',
].join('|'), 'y');
/** The first two letters of all of these, so that few words are looked at. */
const BEGINNINGS = new Syllables([
  'sk', 'rk', 'gh', 'gi', 'gl', 'xo', 'xa', 'AK', 'AS', 'AB', 'AC', 'AI', 'ya', 'np', 'py', 'hf', 'SG', 'sh', 'wh', 'do', 'dc', 'AG',
  'gs', 'cs', 'ey', 'sv',
], 'as they are');

const PEM_BEGIN = /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;
/** Headers of an encrypted key, then its lines; in a string of a program the line ends may be written `\n`. */
const PEM_BODY = /(?:(?:\s|\\[nr])*[A-Z][A-Za-z-]{2,20}: [^\n\\]{1,80}){0,3}(?:[A-Za-z0-9+/=\s]|\\[nr]){0,16384}/y;
const PEM_END = /-----END [A-Z0-9 ]{0,40}-----/y;

/** Between a keyword and its value: a quote that ends the keyword, a sign or a word, a quote that begins the value. */
const VALUE = new RegExp(
  '["\'`\\])]{0,2}(?:\\s{0,3}(?::=|=>|==?|:|＝|：)\\s{0,3}|\\s(?:is|ist|lautet|est|es|è|é|to|jest|är|это)(?:\\s?:)?\\s|(?:は|是|为|為)\\s?|>)' +
    '(?:(?:Bearer|Basic|Token)\\s)?(["\'`「『“„]?)([^\\s"\'`<>,;，。、；「」『』“”„]{6,512})', 'iy');
const AUTHORIZATION = /\s([A-Za-z0-9+/=._~-]{16,4096})/y;
/** What stands in a secret's place: names of variables and of functions, paths into them, words of documentation. */
const PLACEHOLDER = new RegExp(
  '^(?:[$%{\\[(*#]|\\.\\.\\.|x{4,}|process\\.|os\\.|env\\.|ENV|config\\.|settings\\.|this\\.|self\\.|vault:|arn:|' +
  'secrets?[.:/]|https?:|/|\\./|your|my[-_]|' +
    'example|changeme|placeholder|redacted|undefined|null|none|true|false|required|optional|string|sha\\d)|[({]|\\.{3}|^[\\w.]+\\[', 'i');
/** So many bits by Shannon's measure over the value's own characters: `hunter2` has 19, `aaaa1111` 8. */
const BITS_MIN = 15;

/** Words behind which a value is secret, without marks between their parts; any may end a longer name (`DB_PASSWORD`). */
const KEYWORDS = [
  'password', 'passwd', 'passcode', 'passphrase', 'pwd', 'secret', 'apikey', 'apitoken', 'accesskey', 'accesstoken', 'secretkey',
  'privatekey',
  'authtoken', 'authkey', 'clientsecret', 'signingkey', 'encryptionkey', 'licensekey', 'sharedkey', 'accountkey', 'sessiontoken',
  'refreshtoken',
  'bearertoken', 'token', 'credential', 'credentials', 'passwort', 'kennwort', 'contraseña', 'clave', 'senha', 'motdepasse', 'hasło',
  'haslo',
  'wachtwoord', 'lösenord', 'passord', 'salasana', 'parola', 'şifre', 'пароль', 'ключ',
];
const KEYWORD = new RegExp(`(?:${KEYWORDS.join('|')})$`);
/** Few words end like one of them. */
const ENDINGS = new Syllables([...KEYWORDS, 'key', 'passe', 'kod', 'bearer', 'basic'].map((word) => word.slice(-3)));

/** Keywords of scripts that write without blanks. */
export const OTHER_SECRET_WORDS = /密码|密碼|口令|密钥|パスワード|暗証番号|비밀번호|암호|पासवर्ड|كلمة المرور|סיסמה|รหัสผ่าน/g;

/** Whether a word begins like a key of those that have a beginning of their own. */
export function startsLikeKey(text: string, start: number): boolean {
  return BEGINNINGS.mayBeAt(text, start);
}

/** A key by its beginning. Sure. @returns where the search goes on */
export function prefixedKey(scan: Scan, start: number): number {
  const match = scan.matchAt(PREFIXED, start);
  if (!match || !beginsHere(scan.text, start)) return start;
  const written = match[0].replace(/[-_.]+$/, '');
  scan.work.spend(written.length / 20);
  const end = start + written.length;
  // A key is drawn at random: words joined by hyphens are a name.
  if (!/\d/.test(written.slice(4)) || entropyBits(written.slice(4)) < 48) return start;
  if (!endsHere(scan.text, end) && !written.startsWith('eyJ')) return start;
  scan.add('SECRET', start, end, 0.98);
  return end;
}

/** A private key in PEM (RFC 7468), whole or cut off. @param start of its first hyphen @returns where the search goes on */
export function privateKey(scan: Scan, start: number): number {
  const begin = scan.matchAt(PEM_BEGIN, start);
  if (!begin) return start;
  const body = start + begin[0].length;
  const end = body + scan.matchAt(PEM_BODY, body)![0].length;
  const mark = scan.matchAt(PEM_END, end);
  scan.work.spend((end - start) / 20);
  const last = end + (mark?.[0].length ?? 0);
  scan.add('SECRET', start, last, 1);
  return last;
}

/** A value behind a keyword, if it looks drawn rather than written. @param end behind the keyword */
export function secretBehind(scan: Scan, start: number, end: number): void {
  if (isWord(scan.text.charCodeAt(start)) && !ENDINGS.mayBeAt(scan.text, end - 3)) return;
  const word = scan.text.slice(start, end);
  if (/^(?:Bearer|Basic)$/.test(word)) return credentials(scan, end);
  if (isWord(word.charCodeAt(0)) && !isKeyword(scan.text, start, word)) return;
  const match = scan.matchAt(VALUE, end);
  // `<password>hunter22</password>`; behind what stands for a secret stands none.
  if (!match || (match[0].startsWith('>') && (scan.text[start - 1] !== '<' || word === 'SECRET'))) return;
  const value = match[2]!.replace(match[1] === '' ? /[.?:)\]}]+$/ : /$^/, '');
  scan.work.spend(2 + value.length / 10);
  const from = end + match[0].length - match[2]!.length;
  if (looksSecret(value)) scan.add('SECRET', from, from + value.length, 0.8);
}

/** Whether a member of this name holds a secret: `{"db_password": "…"}`. */
export function isSecretName(name: string): boolean {
  return isKeyword(name, 0, name);
}

/** Whether a text that stands where a secret is expected is one, as a whole. */
export function isSecretText(text: string): boolean {
  return text.length <= 512 && !/\s/.test(text) && looksSecret(text);
}

function isKeyword(text: string, start: number, word: string): boolean {
  const said = word.toLowerCase().replaceAll('_', '');
  if (KEYWORD.test(said)) return true;
  if (said !== 'key' && said !== 'passe' && said !== 'kod') return false;
  // `api key`, `access-key`, `mot de passe`: the last word alone says too little.
  const before = text.slice(Math.max(0, start - 12), start).toLowerCase();
  return /(?:api|access|secret|private|auth|signing|encryption|account|license|mot de)[ -]$/.test(before);
}

function credentials(scan: Scan, end: number): void {
  const match = scan.matchAt(AUTHORIZATION, end);
  if (!match || !looksSecret(match[1]!)) return;
  scan.add('SECRET', end + 1, end + 1 + match[1]!.length, 0.85);
}

function looksSecret(value: string): boolean {
  if (value.length < 6 || PLACEHOLDER.test(value)) return false;
  const classes = [/[a-z\p{Ll}]/u, /[A-Z\p{Lu}]/u, /\d/, /[^\p{L}\p{N}_.:/-]/u].filter((one) => one.test(value)).length;
  const hasMark = /\d|[^\p{L}\p{N}_.:/-]/u.test(value);
  const isNumber = /^[\d.,:/%-]+$/.test(value);
  if (isNumber || /^v?\d+(?:\.\d+)+/.test(value)) return false;
  return entropyBits(value) >= BITS_MIN && ((classes >= 2 && hasMark) || (classes >= 2 && value.length >= 20));
}

function entropyBits(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= count * Math.log2(count / value.length);
  return bits;
}
