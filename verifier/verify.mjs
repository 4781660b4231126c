// Checks an export of a Countersign audit log and believes nothing that the file does not prove. This file is the whole checker: no
// package, no network, none of the service's code. README.md has the format and the rules. Of what has gone by only each chain's end
// is kept, the roots of full subtrees, notes, and blanked values that no erasure accounts for yet: memory does not grow with the log.
//   node verify.mjs <export.jsonl[.gz]> [--key <verifier key>]… [--remember <file>] [--json]
// --- 1. Hashes: SHA-256 and SHA-512 (FIPS 180-4) ----------------------------------------------------------------------------------
const [encoder, decoder] = [new TextEncoder(), new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })];
const utf8 = (text) => encoder.encode(text);
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
const base64url = (bytes) => base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const unbase64url = (text) => unbase64(text.replaceAll('-', '+').replaceAll('_', '/') + '='.repeat((4 - (text.length % 4)) % 4));
const attempt = (work) => { try { return work(); } catch { return undefined; } };
function join(...parts) {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  for (let n = 0, at = 0; n < parts.length; at += parts[n++].length) joined.set(parts[n], at);
  return joined;
}
/** Only the one spelling that `base64` would write; anything else is undefined. */
function unbase64(text) {
  const bytes = attempt(() => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
  return bytes && attempt(() => base64(bytes)) === text ? bytes : undefined;
}
/** The constants are the first bits of the fractions of the square and cube roots of the first primes. */
const PRIMES = [];
for (let n = 2; PRIMES.length < 80; n++) if (PRIMES.every((prime) => n % prime !== 0)) PRIMES.push(n);
function rootFraction(prime, degree) {
  let low = 0n;
  for (let bit = 1n << 71n; bit > 0n; bit >>= 1n) if ((low + bit) ** degree <= BigInt(prime) << (64n * degree)) low += bit;
  return BigInt.asUintN(64, low);
}
const [K512, H512] = [PRIMES.map((prime) => rootFraction(prime, 3n)), PRIMES.slice(0, 8).map((prime) => rootFraction(prime, 2n))];
const [K256, H256] = [K512, H512].map((words) => Int32Array.from(words, (word) => Number(BigInt.asIntN(32, word >> 32n))));
const w = new Int32Array(64);
/** 0x80, zeros, and the length in bits, so that whole blocks come out. */
function padding(length, block) {
  const bytes = new DataView(new ArrayBuffer(block - ((length + block / 8) % block) + block / 8));
  bytes.setUint8(0, 0x80);
  bytes.setBigUint64(bytes.byteLength - 8, BigInt(length) * 8n);
  return new Uint8Array(bytes.buffer);
}
/** SHA-256 over bytes that come piece by piece. */
class Sha256 {
  state = H256.slice(); block = new Uint8Array(64); length = 0;
  update(bytes) {
    for (let at = 0, taken; at < bytes.length; at += taken, this.length += taken) {
      const filled = this.length % 64;
      taken = Math.min(64 - filled, bytes.length - at);
      if (taken < 64) this.block.set(bytes.subarray(at, at + taken), filled);
      if (taken === 64) this.compress(bytes, at);
      else if (filled + taken === 64) this.compress(this.block, 0);
    }
    return this;
  }
  /** Of what came so far; more may come. */
  digest() {
    const end = Object.assign(new Sha256(), { state: this.state.slice(), block: this.block.slice(), length: this.length });
    end.update(padding(this.length, 64));
    return Uint8Array.from({ length: 32 }, (_, n) => end.state[n >> 2] >>> (24 - 8 * (n & 3)));
  }
  compress(bytes, start) {
    for (let t = 0, at = start; t < 16; t++) w[t] = (bytes[at++] << 24) | (bytes[at++] << 16) | (bytes[at++] << 8) | bytes[at++];
    for (let t = 16; t < 64; t++) {
      const x = w[t - 15], y = w[t - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let t = 0; t < 64; t++) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K256[t] + w[t]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    const s = this.state; s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
  }
}
export const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), new Sha256()).digest();
/** SHA-512 in plain big integers: only signatures need it, and a file has few. */
export function sha512(bytes) {
  const view = new DataView(join(bytes, padding(bytes.length, 128)).buffer); let state = H512;
  const u64 = (word) => BigInt.asUintN(64, word);
  const mix = (x, ...turns) => turns.reduce((mixed, n) => mixed ^ (x >> n) ^ u64(x << (64n - n)), 0n);
  for (let at = 0; at < view.byteLength; at += 128) {
    const words = Array.from({ length: 16 }, (_, t) => view.getBigUint64(at + t * 8));
    const next = (x, y, t) => words[t - 16] + (mix(x, 1n, 8n) ^ (x >> 7n)) + words[t - 7] + (mix(y, 19n, 61n) ^ (y >> 6n));
    for (let t = 16; t < 80; t++) words.push(u64(next(words[t - 15], words[t - 2], t)));
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 80; t++) {
      const t1 = h + mix(e, 14n, 18n, 41n) + ((e & f) ^ (u64(~e) & g)) + K512[t] + words[t];
      const t2 = mix(a, 28n, 34n, 39n) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [u64(t1 + t2), a, b, c, u64(d + t1), e, f, g];
    }
    state = [a, b, c, d, e, f, g, h].map((word, n) => u64(word + state[n]));
  }
  return Uint8Array.from({ length: 64 }, (_, n) => Number((state[n >> 3] >> BigInt(56 - 8 * (n & 7))) & 255n));
}
// --- 2. Signatures: Ed25519, RFC 8032 section 5.1 ---------------------------------------------------------------------------------
const [P, ORDER] = [2n ** 255n - 19n, 2n ** 252n + 27742317777372353535851937790883648493n];
const mod = (x) => ((x % P) + P) % P;
const power = (base, exponent) => (exponent === 0n ? 1n : mod(power(mod(base * base), exponent >> 1n) * (exponent & 1n ? base : 1n)));
const D = mod(-121665n * power(121666n, P - 2n));
/** Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z (section 5.1.4). */
function addPoints([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const [a, b, c, d] = [(y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2), 2n * D * t1 * t2, 2n * z1 * z2].map(mod);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [e * f, g * h, f * g, e * h].map(mod);
}
/** a·A + b·B: both scalars are walked through together, from their highest bits. */
function sumOfProducts(a, A, b, B) {
  const table = [[0n, 1n, 1n, 0n], A, B, addPoints(A, B)]; let sum = table[0];
  const column = (bit) => Number((a >> bit) & 1n) + 2 * Number((b >> bit) & 1n);
  for (let bit = 255n; bit >= 0n; bit--) sum = addPoints(addPoints(sum, sum), table[column(bit)]);
  return sum;
}
const littleEndian = (bytes) => BigInt(`0x${hex(bytes.slice().reverse())}`);
function decodePoint(bytes) {
  const encoded = littleEndian(bytes), [sign, y] = [encoded >> 255n, BigInt.asUintN(255, encoded)];
  const [u, v] = [mod(y * y - 1n), mod(D * y * y + 1n)];
  let x = mod(u * power(v, 3n) * power(u * power(v, 7n), (P - 5n) / 8n));
  if (mod(v * x * x) !== u) x = mod(x * power(2n, (P - 1n) / 4n));
  if (y >= P || mod(v * x * x) !== u || (x === 0n && sign === 1n)) return undefined;
  if ((x & 1n) !== sign) x = P - x;
  return [x, y, 1n, mod(x * y)];
}
function encodePoint([x, y, z]) {
  const inverse = power(z, P - 2n), encoded = mod(y * inverse) | ((mod(x * inverse) & 1n) << 255n);
  return Uint8Array.from({ length: 32 }, (_, n) => Number((encoded >> BigInt(8 * n)) & 255n));
}
const BASE = decodePoint(Uint8Array.from({ length: 32 }, (_, n) => (n === 0 ? 0x58 : 0x66)));
/** Whether `signature` (64 bytes) over `message` was made with the private half of `publicKey` (32 bytes). */
export function verifyEd25519(publicKey, message, signature) {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const [key, r, s] = [decodePoint(publicKey), signature.subarray(0, 32), littleEndian(signature.subarray(32))];
  if (!key || s >= ORDER) return false;
  const k = littleEndian(sha512(join(r, publicKey, message))) % ORDER;
  return hex(encodePoint(sumOfProducts(s, BASE, k, [mod(-key[0]), key[1], key[2], mod(-key[3])]))) === hex(r);
}
// --- 3. Canonical JSON: RFC 8785 --------------------------------------------------------------------------------------------------
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
/** The one canonical text of a value; throws for what has none. */
export function jcs(value, depth = 0) {
  const isDeep = depth > 255 && typeof value === 'object' && value !== null;
  const isBad = typeof value === 'string' ? /[\uD800-\uDFFF]/u.test(value) : typeof value === 'number' && !Number.isFinite(value);
  if (isBad || isDeep) throw new TypeError('no canonical form: a lone surrogate, no number, or too deep');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => jcs(one, depth + 1)).join(',')}]`;
  return `{${Object.keys(value).sort().map((name) => `${jcs(name)}:${jcs(value[name], depth + 1)}`).join(',')}}`;
}
/** Reads a text (or its UTF-8) that is its own canonical form, and so has only one reading: no name twice, no other spelling. */
export const parseCanonical = (text) => attempt(() => {
  const source = typeof text === 'string' ? text : decoder.decode(text), value = JSON.parse(source);
  return jcs(value) === source ? value : undefined;
});
// --- 4. Trees: RFC 6962 for leaves in a row, a sparse map of depth 256 for the organizations --------------------------------------
const [ZERO, ONE, LINE_END, EMPTY] = [[0], [1], [10], Array(32).fill(0)].map((bytes) => Uint8Array.from(bytes));
const leafHash = (text) => sha256(ZERO, utf8(text)), nodeHash = (left, right) => sha256(ONE, left, right);
/** The roots of the full subtrees that stand side by side so far: all one needs to go on, and to tell the root. */
class CompactRange {
  size = 0; stack = [];
  push(hash, leaves = 1) {
    const node = { hash, leaves }; this.size += leaves;
    for (; this.stack.at(-1)?.leaves === node.leaves; node.leaves *= 2) node.hash = nodeHash(this.stack.pop().hash, node.hash);
    this.stack.push(node);
  }
  root = () => base64(this.size === 0 ? sha256() : this.stack.map((one) => one.hash).reduceRight((right, hash) => nodeHash(hash, right)));
}
/** The sizes of the largest aligned subtrees that fill [from, to), left to right. */
function subtreesOf(from, to) {
  let size = 1; while (from % (size * 2) === 0 && from + size * 2 <= to) size *= 2;
  return from < to ? [size, ...subtreesOf(from + size, to)] : [];
}
/** Walks an audit path upwards (RFC 9162, 2.1.3.2), telling `step` each sibling and its side; whether it ends at the top. */
function climb(node, last, path, step) {
  const half = () => ([node, last] = [Math.floor(node / 2), Math.floor(last / 2)]);
  for (const sibling of path) {
    if (last === 0) return false;
    const isLeft = node % 2 === 1 || node === last;
    step(unbase64(sibling), isLeft);
    while (isLeft && node % 2 === 0 && node !== 0) half();
    half();
  }
  return last === 0;
}
function isIncluded(hash, index, size, path, root) {
  const isWhole = climb(index, size - 1, path, (beside, isLeft) => (hash = isLeft ? nodeHash(beside, hash) : nodeHash(hash, beside)));
  return index < size && isWhole && base64(hash) === root;
}
/** Whether the tree of `to` leaves begins with the whole tree of `from` leaves, 0 < from < to (RFC 9162, 2.1.4.2). */
function isConsistent(from, to, rootFrom, rootTo, path) {
  let [node, last] = [from - 1, to - 1];
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)];
  const [start, ...rest] = node === 0 ? [rootFrom, ...path] : path;
  let [first, second] = [start, start].map((one) => unbase64(one ?? ''));
  const isWhole = climb(node, last, rest, (beside, isLeft) => {
    if (isLeft) first = nodeHash(beside, first);
    second = isLeft ? nodeHash(beside, second) : nodeHash(second, beside);
  });
  return isWhole && base64(first) === rootFrom && base64(second) === rootTo;
}
/** An organization's place in the map and its leaf there; nothing stands there before its first checkpoint. */
const placed = (id, { size, root }) => ({ place: sha256(utf8(id)), hash: size ? leafHash(jcs({ organization: id, root, size })) : EMPTY });
/** The root of the map of these leaves. Where none of them is stands what is listed beside the path of a single one, else nothing. */
function mapRoot(leaves, beside = new Map(), depth = 0) {
  if (depth === 256) return leaves[0].hash;
  const half = (bit) => leaves.filter(({ place }) => ((place[depth >> 3] >> (7 - (depth & 7))) & 1) === bit);
  const [left, right] = [half(0), half(1)].map((some) => (some[0] ? mapRoot(some, beside, depth + 1) : beside.get(depth) ?? EMPTY));
  return left === EMPTY && right === EMPTY ? EMPTY : nodeHash(left, right);
}
// --- 5. Signed notes: C2SP signed-note and tlog-checkpoint ------------------------------------------------------------------------
/** Reads a verifier key, `<name>+<key id>+<base64 of 0x01 and 32 bytes>`; undefined for anything else. */
function readKey(vkey) {
  const [, name, id, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(vkey) ?? [], typed = unbase64(encoded ?? '');
  if (typed?.length !== 33 || typed[0] !== 1 || hex(sha256(utf8(`${name}\n`), typed)).slice(0, 8) !== id) return undefined;
  return { name, id, vkey, publicKey: typed.subarray(1) };
}
/** The text of a note and which of `keys` signed it, or what is wrong. Signatures by other keys, and repeated lines, count for nothing. */
function openNote(note, keys) {
  const end = note.lastIndexOf('\n\n'), text = note.slice(0, end + 1), lines = note.slice(end + 2, -1).split('\n');
  if (end < 0 || !note.endsWith('\n') || /[^\n\P{Cc}]/u.test(note) || lines.length > 100 || note.length > 1e6) return 'is no signed note';
  const signers = [];
  for (const line of new Set(lines)) {
    const [, name, encoded] = /^\u2014 ([^\s+]+) (\S+)$/.exec(line) ?? [], bytes = unbase64(encoded ?? '');
    if (!bytes || bytes.length < 5) return 'has a malformed signature';
    const key = keys.find((one) => one.name === name && one.id === hex(bytes.subarray(0, 4)));
    if (key && !verifyEd25519(key.publicKey, utf8(text), bytes.subarray(4))) return `has a false signature of ${name}`;
    if (key) signers.push(key.vkey);
  }
  return signers.length === 0 ? 'is not signed by a known key' : { text, signers };
}
function readCheckpoint(note, keys) {
  const opened = openNote(note, keys); if (typeof opened === 'string') return opened;
  const [origin, size, root, ...rest] = opened.text.split('\n');
  if (!/^(0|[1-9]\d{0,14})$/.test(size) || unbase64(root ?? '')?.length !== 32 || rest.length !== 1) return 'is no checkpoint';
  return { origin, size: Number(size), root, note, signers: opened.signers };
}
/** Takes the key that follows in a succession, if the one before has vouched for it. What is first is believed, with its place. */
function succeed(succession, instance, vkey, note = '') {
  if (!isText(vkey) || !isText(note)) return false;
  const { last, place = Number(note.split('\n')[1]) || 0 } = succession;
  const said = `${instance}/platform/next-key\n${place}\n${base64(sha256(utf8(vkey)))}\n`;
  if (last !== undefined && openNote(note, [readKey(last)].filter(Boolean)).text !== said) return false;
  return Boolean(Object.assign(succession, { last: vkey, place: place + 1 }));
}
// --- 6. An entry by itself --------------------------------------------------------------------------------------------------------
const [DIGEST, TIME] = [/^[A-Za-z0-9_-]{43}$/, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/];
const COLUMNS = ['id', 'event', 'actorId', 'organizationId', 'outcome', 'timestamp'];
const [ERASURE, TRANSFER, isAgent] = ['gdpr.erasure_executed', 'agent.transferred', (chain) => chain.startsWith('agt_')];
function hashOf({ chain, capability, payload }, prevHash) {
  const before = (isAgent(chain) ? `"agentId":${jcs(chain)},` : '') + (capability === null ? '' : `"capability":${jcs(capability)},`);
  return sha256(utf8(`{${before}"payload":${payload}${prevHash === null ? '' : `,"prevHash":${jcs(prevHash)}`}}`));
}
/** Hash, columns and values. Findings are [kind, end of a sentence]; `blanks` are what `checkValues` gives. */
function checkEntry(entry, expectedPrevHash, isPartOfValues) {
  const findings = [];
  const column = (name) => findings.push(['column_mismatch', `has a changed column: ${name} is not what was hashed`]);
  const edited = (what) => findings.push(['edited', `was changed after it was written: ${what}`]);
  if (entry.agentId !== (isAgent(entry.chain) ? entry.chain : null)) column('agentId');
  const isHashed = (prevHash) => prevHash !== undefined && hex(hashOf(entry, prevHash)) === entry.hash;
  if (!isHashed(entry.prevHash) && isHashed(expectedPrevHash)) column('prevHash');
  else if (!isHashed(entry.prevHash)) edited('its hash no longer fits its content');
  const payload = readPayload(entry.payload);
  const commitments = typeof payload === 'string' ? payload : commitmentsOf(payload);
  if (typeof payload !== 'string') COLUMNS.filter((name) => (entry[name] ?? undefined) !== payload[name]).forEach(column);
  const areShown = typeof commitments !== 'string' && entry.disclosures !== undefined;
  const blanks = areShown ? checkValues(entry.disclosures, commitments, isPartOfValues) : commitments;
  if (typeof blanks === 'string') edited(blanks);
  return { findings, payload, blanks: Array.isArray(blanks) ? blanks : [] };
}
function readPayload(text) {
  const payload = parseCanonical(text);
  if (!isObject(payload)) return 'its payload is no canonical JSON object';
  const { origin = {}, outcome = '', metadata, v, ...texts } = payload;
  const isKnown = v === 1 && Object.keys(texts).sort().join() === 'actorId,event,id,organizationId,timestamp';
  if (!isKnown) return 'its payload has another version, or other members than version 1';
  if (![outcome, ...Object.values(texts)].every((one) => typeof one === 'string')) return 'a member of its payload is no text';
  return TIME.test(texts.timestamp) && isObject(metadata) && isObject(origin) ? payload : 'its payload has a member of another kind';
}
const isMarked = (member) => isObject(member) && (Object.hasOwn(member, '~') || Object.hasOwn(member, '~members'));
const hidesMark = (member) => isMarked(member) || (typeof member === 'object' && member !== null && Object.values(member).some(hidesMark));
/** Digest → where its value belongs. Commitments stand in the members of `metadata` and `origin`, never deeper. */
function commitmentsOf(payload) {
  const found = new Map();
  const members = ['metadata', 'origin'].flatMap((place) => Object.entries(payload[place] ?? {}).map((member) => [place, ...member]));
  for (const [place, name, member] of members) {
    if (!isMarked(member) && hidesMark(member)) return `a commitment stands too deep in ${place}.${name}`;
    if (!isMarked(member)) continue;
    const isWhole = Object.hasOwn(member, '~'), digests = isWhole ? [member['~']] : member['~members'];
    const fits = Object.keys(member).length === 1 && Array.isArray(digests) &&
      digests.every((one, n) => typeof one === 'string' && DIGEST.test(one) && (n === 0 || one > digests[n - 1]) && !found.has(one));
    if (!fits) return `${place}.${name} is no well-formed commitment, or one that stands elsewhere`;
    for (const digest of digests) found.set(digest, { place, name, isWhole });
  }
  return found;
}
/** Holds the values beside an entry against its commitments; returns what is wrong, or digests of what is gone and of its place. */
function checkValues(text, commitments, isPart) {
  const values = attempt(() => JSON.parse(text));
  // A text with doubled names or spaces could be read in two ways; one that is too deep has no other text.
  if (!Array.isArray(values) || attempt(() => JSON.stringify(values)) !== text) return 'its disclosures are not in their stored form';
  const blanks = []; let previous = '';
  for (const one of values) {
    const { d, pointer, salt, value, erased } = one ?? {};
    const isBlank = erased === true && value === undefined, names = isObject(one) ? Object.keys(one).sort().join() : '';
    const areTexts = [d, pointer, salt, value ?? ''].every((member) => typeof member === 'string');
    if (names !== (isBlank ? 'd,erased,pointer,salt' : 'd,pointer,salt,value') || !areTexts) return 'a disclosure is malformed';
    if (pointer <= previous) return 'its disclosures are out of order, or two of them stand in one place';
    previous = pointer; const wanted = commitments.get(d);
    if (!commitments.delete(d)) return `the value at ${pointer} answers to no commitment of the entry`;
    const steps = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const isThere = steps[0] === '' && steps[1] === wanted.place && steps[2] === wanted.name && steps.length === (wanted.isWhole ? 3 : 4);
    if (!isThere || /~(?![01])|[\uD800-\uDFFF]/u.test(pointer)) return `the value at ${pointer} stands in the wrong place`;
    // Any other length than 16 would let salt and text be cut apart elsewhere and still give the digest.
    const bytes = unbase64url(salt), isSalted = bytes?.length === 16 && base64url(bytes) === salt;
    const said = isBlank ? jcs(pointer) : wanted.isWhole ? value : `[${jcs(steps[3])},${value}]`;
    const digest = isSalted ? base64url(sha256(bytes, utf8(said))) : undefined;
    if (isBlank && isSalted) blanks.push(`${d} ${digest}`);
    else if (digest !== d || parseCanonical(value) === undefined) return `the value at ${pointer} is not the one committed to`;
  }
  const [missing] = isPart ? [] : commitments.values(); return missing ? `a value of ${missing.place}.${missing.name} is missing` : blanks;
}
// --- 7. The shapes of lines -------------------------------------------------------------------------------------------------------
const [isText, isCount] = [(one) => typeof one === 'string', (one) => Number.isSafeInteger(one) && one >= 0];
const isRoot = (one) => isText(one) && unbase64(one)?.length === 32;
const isSibling = (one) => Array.isArray(one) && one.length === 2 && isCount(one[0]) && one[0] < 256 && isRoot(one[1]);
const SHAPES = {
  text: isText, count: isCount, root: isRoot, object: isObject, flag: (one) => typeof one === 'boolean', one: (one) => one === 1,
  time: (one) => isText(one) && TIME.test(one), hash: (one) => isText(one) && /^[0-9a-f]{64}$/.test(one),
  texts: (one) => Array.isArray(one) && one.every(isText), roots: (one) => Array.isArray(one) && one.every(isRoot),
  siblings: (one) => Array.isArray(one) && one.every((pair, n) => isSibling(pair) && (n === 0 || pair[0] > one[n - 1][0])),
  what: (one) => ['log', 'person', 'archive'].includes(one), because: (one) => ['swept', 'range', 'hidden'].includes(one),
  place: shapeOf('index:count size:count hashes:roots'), checkpoint: shapeOf('size:count root:root'),
  counts: shapeOf('lines:count entries:count chains:count withheld:count'),
};
/** Members as `name:shape`; `?` for what may be null, `??` for what may also be left out. Any other member is one too many. */
function shapeOf(words) {
  const members = new Map(words.split(' ').map((word) => /^(\w+):(\w+)(\??)(\??)$/.exec(word)).map(([, name, ...rest]) => [name, rest]));
  const fits = (one, [name, [kind, nullable, absent]]) =>
    Object.hasOwn(one, name) ? (nullable && one[name] === null) || SHAPES[kind](one[name]) : Boolean(absent);
  return (one) => isObject(one) && Object.keys(one).every((name) => members.has(name)) && [...members].every((member) => fits(one, member));
}
/** Each kind of line with its rank in the order of the file. */
const LINES = {};
for (const [rank, kind, ...members] of `
  0 export v:one what:what instance:text organizations:texts all:flag?? keys:texts madeAt:time \
from:text?? to:text?? agentId:text?? userId:text?? keyNotes:texts??
  1 checkpoint note:text
  2 map organizationId:text size:count root:root siblings:siblings timestamp:time platform:place
  3 section organizationId:text size:count chains:count
  4 consistency organizationId:text from:count to:count hashes:roots
  5 sweep organizationId:text entryId:text note:text
  6 seam organizationId:text chain:text seq:count hash:hash count:count sweepEntryId:text sweepIndex:count? checkpoint:checkpoint
  7 entry organizationId:text index:count? chain:text seq:count id:text event:text agentId:text? actorId:text capability:text? \
outcome:text? timestamp:text payload:text disclosures:text?? prevHash:text? hash:text
  7 erasure note:text
  7 gap from:count to:count because:because nodes:roots
  7 inclusion index:count size:count hashes:roots
  8 head organizationId:text chain:text seq:count hash:text? closed:flag
  9 profile profile:object
  9 records records:object
  10 manifest counts:counts sha256:hash note:text`.trim().split('\n').map((line) => line.trim().split(' '))) {
  LINES[kind] = { rank: Number(rank), fits: shapeOf(`kind:text ${members.join(' ')}`) };
}
// --- 8. Chains and trees while the lines go by ------------------------------------------------------------------------------------
/** One file being checked. `open` is the section, of one organization, whose lines are going by. */
class Check {
  breaks = []; keys = []; named = {}; rotated = {}; remembered = []; rank = -1; header = { organizations: [] }; digest = new Sha256();
  checkpoints = new Map(); consistencies = new Map(); transfers = new Map(); orders = new Map(); cutChains = new Set(); ids = new Set();
  counts = { lines: 0, bytes: 0, organizations: 0, chains: 0, entries: 0, unanchored: 0, erased: 0, withheld: 0, breaks: 0 };
  begun = new Map();
  found = (chain, position, entryId, kind, detail) =>
    this.counts.breaks++ < 1_000 && this.breaks.push({ chain, position, entryId, kind, detail });
  inFile = (kind, what) => this.found('file', this.counts.lines, null, kind, `line ${this.counts.lines} of the file ${what}`);
  inTree = (kind, position, what) => this.found(this.open.id, position, null, kind, `the tree of ${this.open.id} ${what}`);
  inEntry = ({ chain, seq, id }, kind, what) => this.found(chain, seq, id ?? null, kind, `entry ${seq} of chain ${chain} ${what}`);
  inRun = (chain, from, to, kind, what) => this.found(chain, from, null, kind, `entries ${from} to ${to} of chain ${chain} ${what}`);
  line(bytes) {
    this.counts.lines++; this.counts.bytes += bytes.length + 1;
    const line = parseCanonical(bytes), known = Object.hasOwn(LINES, line?.kind ?? '') ? LINES[line.kind] : undefined;
    // Organizations follow one another; within each, and around them, the order is fixed.
    const opens = ['map', 'section'].includes(line?.kind) && this.rank >= LINES.section.rank && this.rank <= LINES.head.rank;
    const follows = known?.rank > this.rank || (known?.rank === this.rank && line.kind !== 'map');
    const isOurs = this.open && this.open.id === (line?.organizationId ?? this.open.id);
    const isInside = isOurs || known?.rank < LINES.seam.rank || known?.rank > LINES.head.rank;
    const fits = known?.fits(line), isDue = (this.rank < 0) === (line?.kind === 'export') && !this.ended && (follows || opens) && isInside;
    const { waiting, order } = this; this.waiting = this.order = undefined;
    if (order && line?.event !== ERASURE) this.inFile('reordered', 'follows the note over an erasure, and is none');
    if (waiting && line?.kind !== 'inclusion') this.inEntry(waiting, 'tree_mismatch', 'comes without its proof');
    if (!fits) this.inFile('edited', 'cannot be read: it is not as the format wants it');
    else if (!isDue) this.inFile('reordered', `is of the kind ${line.kind}, which does not belong there`);
    this.rank = known?.rank ?? this.rank;
    if (fits && isInside) this[line.kind]?.(line, this.open, waiting, order);
    this.digest.update(bytes).update(LINE_END);
  }
  export(line) {
    const [isLog, isRange, agent] = [line.what === 'log', (line.from ?? line.to ?? null) !== null, line.agentId ?? undefined];
    if (this.pinned.length === 0) this.keys = line.keys.flatMap((vkey) => readKey(vkey) ?? []);
    // What ends before the log does may be signed by keys that were announced behind its end.
    const later = isLog && (line.to ?? null) === null ? [] : line.keys;
    const isStrange = (vkey, n) => !succeed(this.named, line.instance, vkey, line.keyNotes?.[n - 1]);
    if (line.keys.some(isStrange)) this.inFile('checkpoint_invalid', 'names a key for which the one before it has not vouched');
    Object.assign(this, { header: line, isLog, isRange, agent, later, isWhole: isLog && !isRange && agent === undefined });
  }
  checkpoint({ note }) {
    const read = readCheckpoint(note, this.keys), [instance, tree, more] = read.origin?.split('/') ?? [];
    const fits = isObject(read) && instance === this.header.instance && more === undefined && !this.checkpoints.has(tree);
    if (fits) this.checkpoints.set(tree, read);
    else this.inFile('checkpoint_invalid', `holds a checkpoint that ${typeof read === 'string' ? read : 'does not belong there'}`);
  }
  map({ organizationId: id, size, root, siblings, timestamp, platform: { index, size: leaves, hashes } }) {
    this.closeSection(); const [own = { size: 0, root }, all] = [this.checkpoints.get(id), this.checkpoints.get('platform')];
    const beside = new Map(siblings.map(([depth, hash]) => [depth, unbase64(hash)]));
    const map = base64(mapRoot([placed(id, { size, root })], beside)), leaf = leafHash(jcs({ map, timestamp }));
    const isNewest = all?.size === leaves && index === leaves - 1;
    const isCarried = own.size === size && own.root === root && isNewest && isIncluded(leaf, index, leaves, hashes, all.root);
    if (isCarried) this.mapped = { id, map, timestamp };
    else this.found(id, size, null, 'checkpoint_invalid', `the platform's checkpoint does not carry the tree of ${id} that is shown`);
  }
  section({ organizationId: id, size, chains: declared }) {
    this.closeSection(); const [own, recall] = [this.checkpoints.get(id), this.recallOf(id)];
    const lists = { chains: new Map(), seams: new Map(), ends: new Map(), blanks: new Map(), gaps: { swept: 0, range: 0, hidden: 0 } };
    this.open = { id, size, own, declared, ...lists, heads: 0, tree: new CompactRange(), next: 0, cutTo: 0, isSound: true, recall };
    if (this.header.organizations[this.counts.organizations++] !== id) this.inTree('chain_removed', 0, 'is not the one announced here');
    if (size !== (own?.size ?? 0)) this.inTree('checkpoint_invalid', size, 'is shown without a signed checkpoint of its size');
    else if (this.checkpoints.size > 0 && this.mapped?.id !== id) this.inTree('checkpoint_invalid', size, 'is shown without its map line');
  }
  consistency = (line) => void this.consistencies.set(`${line.organizationId} ${line.from}`, line);
  /** Whether the tree of this file goes on from an older checkpoint of it; undefined where the file does not say. */
  continues(tree, { size, root }) {
    const now = this.checkpoints.get(tree) ?? { size: 0 };
    if (size === 0 || size >= now.size) return size === 0 || (size === now.size && root === now.root);
    const proof = this.consistencies.get(`${tree} ${size}`);
    return proof?.to === now.size ? isConsistent(size, now.size, root, now.root, proof.hashes) : undefined;
  }
  /** A checkpoint of this tree from an earlier check, which has to be part of its past. */
  recallOf(tree) {
    const note = this.recalled.find((one) => one.startsWith(`${this.header.instance}/${tree}\n`));
    const then = note && readCheckpoint(note, this.keys);
    if (typeof then === 'string') throw new Error(`the remembered checkpoint ${then}`);
    return then && { ...then, tree };
  }
  judge(recall) {
    if (!recall) return;
    const { origin, size, tree, note } = recall, now = this.checkpoints.get(tree) ?? { size: 0 };
    // An archive is of its sweep's moment, and rightly older than what is remembered.
    const { what: kind, organizations } = this.header, isPast = kind === 'archive' && size > now.size;
    const goesOn = isPast ? undefined : this.continues(tree, recall) ?? recall.goesOn, isUnproven = goesOn === undefined;
    const ask = tree === 'platform' ? `platform_since=${size}` : `organization_id=${tree}&since=${size}`, asks = isUnproven && this.isLog;
    this.remembered.push({ origin, size, state: isUnproven ? 'unproven' : goesOn ? 'continued' : 'rewritten', ...(asks && { ask }) });
    if (isUnproven) now.kept = note;
    const isGone = ![...organizations, 'platform'].includes(tree), rewritten = 'it was rewritten, or the file is older';
    const what = isGone ? 'is gone: it was remembered' : `does not go on from the remembered one: ${rewritten}`;
    if (goesOn === false) this.found(tree, size, null, 'checkpoint_invalid', `the tree of ${tree} ${what}`);
  }
  /** Whoever owns the database can append an entry of a sweep or an erasure. It counts, once, where a key has signed it as it is. */
  sweep({ entryId, note }) {
    if (this.orders.has(entryId)) return this.inFile('deleted', 'is a second note over the same sweep');
    this.orders.set(entryId, { note, origin: note.split('\n')[0], size: 0 });
  }
  erasure({ note }) {
    this.order = note; this.orders.set(note, { note, origin: note.split('\n')[0], size: 0, kind: 'unauthorised_erasure' });
  }
  /** Whether a note is of this kind and organization, of how much is gone, and of the entry: all that is hashed of it but the link. */
  isOrdered = (note, kind, size, entry) => openNote(note ?? '', this.keys).text ===
    `${this.header.instance}/${this.open.id}/${kind}\n${size}\n${base64(hashOf(entry, null))}\n`;
  seam(line, s) {
    const { chain, seq, hash, count, checkpoint: { size, root } } = line;
    if (s.seams.has(chain)) return this.inFile('deleted', 'is a second cut of the same chain');
    s.seams.set(chain, line); s.ends.set(base64(leafHash(jcs({ chain, hash, seq }))), line); this.cutChains.add(chain);
    // One sweep cuts thousands of chains at the same checkpoint.
    if (s.cutAt !== `${size} ${root}`) Object.assign(s, { cutAt: `${size} ${root}`, isCutProven: this.continues(s.id, line.checkpoint) });
    s.cutTo = Math.max(s.cutTo, size);
    if (!s.isCutProven || count > seq) this.inRun(chain, 1, seq, 'deleted', 'were cut at a checkpoint that the tree does not go on from');
  }
  entry(line, s, _, order) {
    this.counts.entries++;
    const [before, chain, { what }] = [this.counts.breaks, this.chainOf(line.chain), this.header];
    // In a part, erasures and sweeps from elsewhere in the tree follow at the end, each with its proof.
    const isApart = this.isLog && !this.isWhole && line.index !== null && line.index < s.next;
    const checked = checkEntry(line, !isApart && line.seq === chain.seq + 1 ? chain.hash : undefined, what === 'person');
    for (const [kind, said] of checked.findings) this.inEntry(line, kind, said);
    if (line.disclosures === undefined && what !== 'archive') this.inEntry(line, 'edited', 'is shown without its disclosures');
    this.grow(line, s, isApart);
    if (!isApart) this.follow(line, checked.payload?.event === TRANSFER ? checked.payload.metadata : {}, chain, before);
    for (const blank of checked.blanks) s.blanks.set(`${line.hash} ${blank}`, { chain: line.chain, seq: line.seq, id: line.id });
    if (this.counts.breaks === before) this.heed(line, checked.payload, s, order);
  }
  grow(entry, s, isApart) {
    const { index, chain, hash, seq } = entry;
    if (index === null) return void this.counts.unanchored++;
    const leaf = leafHash(jcs({ chain, hash, seq }));
    if (!this.isLog || isApart) return void (this.waiting = { ...entry, leaf });
    if (index < s.next || index >= s.size) this.inEntry(entry, 'tree_mismatch', `does not stand at place ${index} of its tree`);
    if (index > s.next) this.inTree('tree_mismatch', s.next, `has leaves ${s.next} to ${index - 1}, which the file does not hold`);
    s.isSound &&= index === s.next; s.next = Math.max(s.next, index + 1);
    this.push(leaf, 1);
  }
  push(node, leaves, seam = {}) {
    const { tree, recall } = this.open; seam.index = tree.size; tree.push(node, leaves);
    if (recall?.size === tree.size) recall.goesOn = tree.root() === recall.root;
  }
  inclusion({ index, size, hashes }, s, waiting) {
    if (!waiting) return this.inFile('inserted', 'proves no entry');
    const fits = index === waiting.index && size === s.own?.size && isIncluded(waiting.leaf, index, size, hashes, s.own.root);
    if (!fits) this.inEntry(waiting, 'tree_mismatch', 'is not proven to stand in the tree of its organization');
  }
  gap({ from, to, because, nodes }, s) {
    const fits = this.isLog && from === s.next && to > from && to <= s.size && subtreesOf(from, to).length === nodes.length;
    if (!fits) return this.inFile('tree_mismatch', 'is a gap that does not fit its tree');
    const reasons = { swept: to <= s.cutTo, hidden: this.agent !== undefined, range: this.isRange && (from === 0 || to === s.size) };
    if (!reasons[because]) this.inTree('deleted', from, `has leaves ${from} to ${to - 1}, hidden for no reason that the file gives`);
    subtreesOf(from, to).forEach((leaves, n) => this.push(unbase64(nodes[n]), leaves, s.ends.get(nodes[n])));
    s.next = to; s.gaps[because] += to - from;
  }
  chainOf(name) {
    const { chains, seams } = this.open;
    if (!chains.has(name)) chains.set(name, { seq: 0, hash: null, ...seams.get(name), isNew: true, range: 0 });
    return chains.get(name);
  }
  /** Whether entries of a chain may lie in what the file, being a part, does not show. */
  mayJump(name, chain) {
    const mayHide = this.open.gaps.range > chain.range || (this.agent !== undefined && name !== this.agent);
    return this.isLog ? mayHide : this.header.what === 'person' || chain.isNew;
  }
  follow(entry, { direction, fromSeq, fromHash }, chain, before) {
    const [{ chain: name, seq, prevHash, hash }, { id, gaps: { range } }] = [entry, this.open];
    const arrives = direction === 'in' && (chain.isNew || chain.hasLeft);
    const isOurs = isAgent(name) || name === (id === 'org_platform' ? 'sys_platform' : `sys_${id}`);
    const wrong = !isOurs ? ['inserted', 'stands in a chain that is not of its organization']
      : seq <= chain.seq && chain.hasJumped ? ['reordered', 'does not stand where it was appended']
      : seq <= chain.seq ? ['forked', 'stands at a position that is taken']
      : arrives && fromSeq === seq - 1 && fromHash === prevHash ? undefined
      : arrives ? ['inserted', 'claims a transfer, but does not continue the entry that it names']
      : chain.hasLeft && !this.mayJump(name, chain) ? ['inserted', 'follows the entry with which the agent left this organization']
      : seq > chain.seq + 1 || prevHash === chain.hash || chain.isBroken || this.counts.breaks > before ? undefined
      : ['forked', 'does not continue the entry before it: one of the two is not what was appended'];
    if (wrong) this.inEntry(entry, ...wrong);
    const isElsewhere = isAgent(name) && seq === 1 && this.begun.set(name, this.begun.get(name) ?? id).get(name) !== id;
    if (isElsewhere) this.inEntry(entry, 'inserted', 'begins a chain that begins in another organization, too');
    if (seq <= chain.seq) return;
    const hasHole = seq > chain.seq + 1 && !arrives && !chain.hasLeft && !this.mayJump(name, chain);
    if (hasHole) this.inRun(name, chain.seq + 1, seq - 1, 'deleted', 'should stand here: something was taken out of the chain, or moved');
    chain.hasJumped ||= hasHole;
    Object.assign(chain, { seq, hash, isNew: false, hasLeft: direction === 'out', isBroken: this.counts.breaks > before, range });
    if (!['in', 'out'].includes(direction)) return;
    // The two halves of a transfer stand in two organizations and name the same position and hash.
    const key = direction === 'out' ? `${name} ${seq} ${hash}` : `${name} ${seq - 1} ${prevHash}`;
    if (![undefined, direction].includes(this.transfers.get(key)?.direction)) this.transfers.delete(key);
    else this.transfers.set(key, { chain: name, seq, id: entry.id, direction });
  }
  heed(entry, { event, metadata }, s, order) {
    const [{ id, index }, listed] = [entry, (name) => (Array.isArray(metadata[name]) ? metadata[name] : [])];
    const erased = event === ERASURE ? listed('erased') : [];
    const isSigned = event !== ERASURE || (this.ids.size < this.ids.add(id).size && this.isOrdered(order, 'erasure', erased.length, entry));
    if (!isSigned) return this.inEntry(entry, 'unauthorised_erasure', 'says that values were erased, and no key that counts has signed it');
    for (const one of erased) this.counts.erased += Array.isArray(one) && s.blanks.delete(one.join(' ')) ? 1 : 0;
    if (event === TRANSFER && !['in', 'out'].includes(metadata.direction)) this.inEntry(entry, 'inserted', 'is no transfer in or out');
    if (event === 'agent.registered' && entry.seq > 1) this.inEntry(entry, 'inserted', 'registers an agent that has entries already');
    const isRotation = event === 'admin.signing_key_rotated' && entry.chain === 'sys_platform';
    const isNext = isRotation && succeed(this.rotated, this.header.instance, metadata.keyId, metadata.keyNote);
    if (isNext && index !== null) this.announced = metadata.keyId;
    if (isRotation && !isNext) this.inEntry(entry, 'checkpoint_invalid', 'announces a key for which the key before has not vouched');
    if (event !== 'admin.audit_retention_sweep') return;
    const gone = listed('chains').reduce((sum, cut) => sum + cut?.count, 0);
    const isOrdered = this.isOrdered(this.orders.get(id)?.note, 'sweep', gone, entry);
    for (const cut of listed('chains')) {
      const seam = s.seams.get(cut?.chain);
      if (seam?.sweepEntryId !== id || seam.sweepIndex !== index) continue;
      const { size, root } = seam.checkpoint;
      const isSame = isOrdered && seam.seq === cut.seq && seam.hash === cut.hash && seam.count === cut.count;
      seam.isConfirmed = isSame && size === metadata.checkpoint?.size && root === metadata.checkpoint.root && (index ?? size) >= size;
    }
  }
  head({ chain: name, seq, hash, closed }, s) {
    const chain = this.chainOf(name), last = { chain: name, seq: chain.seq };
    if (chain.hasHead) this.inFile('inserted', `is a second head of chain ${name}`);
    chain.hasHead = true; s.heads++; this.counts.chains++;
    if (seq > chain.seq && this.mayJump(name, chain)) return;
    if (seq > chain.seq && chain.seq === 0) this.inRun(name, 1, seq, 'chain_removed', 'should stand here: the whole chain is gone');
    else if (seq > chain.seq) this.inRun(name, chain.seq + 1, seq, 'truncated', 'should stand here: the end of the chain was cut off');
    else if (seq < chain.seq) this.inEntry(last, 'inserted', `stands beyond the head of the chain, which ends at ${seq}`);
    else if (hash !== chain.hash && !chain.isBroken) this.inEntry(last, 'edited', 'is not the one that the head of the chain names');
    else if (!chain.isNew && closed !== chain.hasLeft) this.inEntry(last, 'edited', 'does not fit its head, which is open or closed');
  }
  closeSection() {
    const { open: s, isLog } = this; if (!s) return;
    const seams = [...s.seams.values()], swept = seams.reduce((sum, { count }) => sum + count, 0);
    const late = seams.filter(({ index, checkpoint: { size } }) => isLog && (index === undefined ? !this.isRange : index >= size));
    const endless = isLog ? [...s.chains].filter(([name, { hasHead }]) => !hasHead && (this.agent ?? name) === name) : [];
    for (const [chain, { seq }] of endless) this.inEntry({ chain, seq }, 'truncated', 'is the last one, but no head says so');
    for (const { chain, seq, isConfirmed } of seams) if (!isConfirmed) this.inRun(chain, 1, seq, 'deleted', 'were cut by no signed sweep');
    for (const blank of s.blanks.values()) this.inEntry(blank, 'unauthorised_erasure', 'lost a value as no signed erasure accounts for');
    if (s.heads !== s.declared) this.inTree('chain_removed', s.size, `should have ${s.declared} chains; the heads of ${s.heads} are there`);
    if (this.isWhole && s.gaps.swept !== swept) this.inTree('deleted', 0, `lacks ${s.gaps.swept} leaves as swept; sweeps say ${swept}`);
    // In the window of a part, the last leaf of a cut chain may lie in what the file does not show.
    for (const { chain, seq } of late) this.inRun(chain, 1, seq, 'deleted', 'were cut off, but are not shown to lie under its checkpoint');
    if (isLog && s.next < s.size) this.inTree('truncated', s.next, `has ${s.size} leaves; the file ends before leaf ${s.next}`);
    const isOther = isLog && s.next === s.size && s.isSound && s.own && s.tree.root() !== s.own.root;
    if (isOther) this.inTree('tree_mismatch', s.size, 'does not come to the root that was signed: what is shown is not what was appended');
    this.judge(s.recall); this.open = undefined;
  }
  manifest({ counts, sha256: said, note }) {
    this.closeSection(); this.ended = true;
    const { lines, entries, chains } = this.counts, digest = this.digest.digest();
    if (hex(digest) !== said) return this.inFile('edited', 'gives another digest than the lines before it have: the file was changed');
    Object.assign(this.counts, { withheld: counts.withheld });
    if (counts.lines !== lines - 1 || counts.entries !== entries || counts.chains !== chains) this.inFile('edited', 'counts other lines');
    const opened = openNote(note, this.keys);
    const wanted = `${this.header.instance}/export\n${entries}\n${base64(digest)}\n${this.header.madeAt}\n`;
    if (typeof opened === 'string') this.inFile('checkpoint_invalid', `holds a note that ${opened}`);
    else if (opened.text !== wanted) this.inFile('checkpoint_invalid', 'holds a note about another file');
  }
  end() {
    const { counts, checkpoints, header, keys, pinned } = this;
    if (!this.ended) this.inFile('truncated', 'is the last one, and no manifest: the end of the file was cut off');
    this.closeSection();
    const unseen = header.organizations.slice(counts.organizations);
    for (const id of unseen) this.found(id, 0, null, 'chain_removed', `${id} is announced, but the file holds nothing of it`);
    const { announced = '', later = [] } = this, at = later.indexOf(announced), last = at < 0 ? [announced] : later.slice(at);
    const keyed = last.flatMap((vkey) => readKey(vkey) ?? []), signed = keyed[0] ? [...checkpoints.values(), ...this.orders.values()] : [];
    const retired = signed.filter(({ note }) => typeof openNote(note, keyed) === 'string');
    const what = 'has a note that is not signed by the key that the log announced last';
    for (const { origin, size, kind = 'checkpoint_invalid' } of retired) this.found(origin, size, null, kind, `${origin} ${what}`);
    // Only who sees every organization can ask for both halves of a transfer; a swept half is gone rightly.
    const halves = [...this.transfers.values()].filter(({ chain }) => this.isWhole && header.all && !this.cutChains.has(chain));
    for (const half of halves) this.inEntry(half, half.direction === 'out' ? 'truncated' : 'inserted', 'is one half of a transfer, alone');
    const isAnchored = counts.unanchored === 0 && checkpoints.size > 0;
    const { origin, size, root, signers = [] } = checkpoints.get('platform') ?? {};
    // Only a file of everything can be asked for every organization that was signed, or is remembered.
    const heads = [...checkpoints].filter(([tree]) => tree !== 'platform').map(([tree, head]) => placed(tree, head));
    const isAll = !header.all || origin === undefined || base64(mapRoot(heads)) === this.mapped?.map;
    if (!isAll) this.found('platform', size, null, 'tree_mismatch', 'the map that was signed has other organizations than the file');
    const known = header.all ? this.recalled.map((note) => note.split('\n')[0].split('/')[1]) : [];
    for (const tree of new Set(['platform', ...known])) if (!header.organizations.includes(tree)) this.judge(this.recallOf(tree));
    return {
      verdict: counts.breaks > 0 ? 'tampered' : isAnchored ? 'valid' : 'valid_unanchored', breaks: this.breaks, counts,
      covers: this.isWhole ? (header.all ? 'log' : 'organizations') : this.isLog ? 'part' : header.what ?? 'nothing',
      checkpoint: origin === undefined ? null : { origin, size, root, timestamp: this.mapped?.timestamp ?? null },
      keys: keys.map(({ vkey }) => ({ vkey, pinned: pinned.length > 0, signed: signers.includes(vkey) })),
      remembered: this.remembered, notes: [...checkpoints.values()].map((one) => one.kept ?? one.note),
    };
  }
}
// --- 9. Reading -------------------------------------------------------------------------------------------------------------------
export async function* linesOf(chunks) {
  const rest = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to; (to = chunk.indexOf(10, from)) >= 0; from = to + 1) yield join(...rest.splice(0), chunk.subarray(from, to));
    if (from < chunk.length) rest.push(chunk.slice(from));
  }
  if (rest.length > 0) yield join(...rest);
}
/** `lines`: bytes or texts, also of the JSON form. `keys`: pinned; only they count then. `remembered`: notes of earlier checkpoints. */
export async function verify(lines, { keys = [], remembered = [], onProgress } = {}) {
  const pinned = keys.map((vkey) => readKey(vkey.trim()));
  if (pinned.includes(undefined)) throw new Error('a key is no verifier key: <name>+<8 hex digits>+<base64>');
  const check = Object.assign(new Check(), { pinned, keys: pinned, recalled: remembered }); let isJson;
  for await (const line of lines) {
    const bytes = typeof line === 'string' ? utf8(line) : line;
    const isFrame = bytes.length <= 10 && ['{"lines":[', ']}'].includes(new TextDecoder().decode(bytes));
    isJson ??= isFrame;
    if (!isJson || !isFrame) check.line(isJson && bytes.at(-1) === 0x2c ? bytes.subarray(0, -1) : bytes);
    if (check.counts.lines % 2_000 === 0) await onProgress?.({ ...check.counts });
  }
  if (check.rank < 0) throw new Error('no line of an export in it: is it an export as jsonl or json, unpacked or with the ending .gz?');
  return check.end();
}
// --- 10. The command line ---------------------------------------------------------------------------------------------------------
const SAID = { valid: 'VALID: unchanged; left out only by sweeps', valid_unanchored: 'VALID SO FAR: not all is under a checkpoint' };
export const inWords = ({ verdict, covers, breaks, counts, checkpoint, keys, remembered }) => [
  `${SAID[verdict] ?? `TAMPERED: ${counts.breaks} breaks`}${covers === 'log' ? '.' : ` (${covers}: of the rest the file says nothing).`}`,
  ...breaks.map(({ kind, detail }) => `  ${kind}: ${detail}`),
  `${counts.entries} entries, ${counts.chains} chains, ${counts.unanchored} not under a checkpoint, ${counts.erased} values erased.`,
  checkpoint ? `Checkpoint ${checkpoint.origin}, ${checkpoint.size} leaves, ${checkpoint.root}, ${checkpoint.timestamp}` : 'No checkpoint.',
  ...keys.map(({ vkey, pinned }) => `Key ${vkey}${pinned ? '' : ' (the file says so: compare it with the one that you were given)'}`),
  ...remembered.map(({ origin, size, state, ask = 'no export of this kind' }) =>
    `Remembered ${origin} of ${size} leaves: ${state === 'unproven' ? `not compared, and kept; to show that it goes on: ${ask}` : state}`),
].join('\n');
async function main(args) {
  const { readFileSync, writeFileSync, existsSync, openSync, createReadStream } = await import('node:fs');
  const options = { key: { type: 'string', multiple: true, default: [] }, remember: { type: 'string' }, json: { type: 'boolean' } };
  const { values, positionals: [file] } = (await import('node:util')).parseArgs({ args, allowPositionals: true, options });
  if (file === undefined) throw new Error('usage: node verify.mjs <export.jsonl[.gz]> [--key <key>]… [--remember <file>] [--json]');
  const stored = createReadStream(file, { fd: openSync(file) });
  const chunks = file.endsWith('.gz') ? stored.pipe((await import('node:zlib')).createGunzip()) : stored;
  const known = values.remember && existsSync(values.remember) ? JSON.parse(readFileSync(values.remember, 'utf8')) : {};
  const result = await verify(linesOf(chunks), { keys: values.key, remembered: Object.values(known).filter(isText) });
  console.log(values.json ? JSON.stringify(result) : inWords(result));
  const unproven = result.remembered.find(({ ask, origin }) => ask && !origin.endsWith('/platform'));
  if (unproven) console.error(`The remembered history stays: it is not shown to go on; ask for an export with ${unproven.ask}.`);
  if (result.verdict === 'tampered' || unproven) return result.verdict === 'tampered' ? 1 : 2;
  for (const note of result.notes) known[note.split('\n')[0]] = note;
  if (values.remember) writeFileSync(values.remember, JSON.stringify(known, null, 2));
  return 0;
}
if (globalThis.process?.argv?.[1] && import.meta.url === (await import('node:url')).pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2)).catch((error) => (console.error(error.message), 2));
}
