/** Longer names are nobody's slip of the pen, and comparing them would be work for who sends them. */
const LONGEST = 64;
/** From this length on two letters may be wrong; of a shorter name that would make another word. */
const TWO_WRONG_FROM = 5;
/** Shorter pieces begin or end too many names. */
const PIECE_FROM = 4;

/**
 * The name that was probably meant by one that is not there: the nearest by letters left out, put in, mistaken or swapped (two at
 * most), apart from case and separators; else one of which it is the beginning or the end, or the other way round.
 */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const said = folded(wrong);
  if (said === '' || said.length > LONGEST) return undefined;
  let nearest: string | undefined;
  let least = (said.length < TWO_WRONG_FROM ? 1 : 2) + 1;
  for (const name of names) {
    const distance = lettersWrong(said, folded(name), least);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest ?? names.find((name) => isPiece(said, folded(name)) || isPiece(folded(name), said));
}

function folded(name: string): string {
  return name.toLowerCase().replace(/[_.:\s-]/g, '');
}

function isPiece(piece: string, whole: string): boolean {
  return piece.length >= PIECE_FROM && (whole.startsWith(piece) || whole.endsWith(piece));
}

/** Damerau–Levenshtein distance in which no letter is touched twice; `enough` where it is at least that. */
function lettersWrong(a: string, b: string, enough: number): number {
  if (Math.abs(a.length - b.length) >= enough) return enough;
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return Math.min(row[b.length]!, enough);
}
