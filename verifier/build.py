import re
s=open('part1.txt').read()
def sub(a,b,n=1):
    global s
    assert a in s, a
    s=s.replace(a,b,n)
# header
i=s.index("// Top to bottom"); j=s.index("// --- 1.")
s=s[:i]+"""// Top to bottom: 1 hashes, 2 signatures, 3 canonical JSON, 4 trees, 5 signed notes, 6 an entry by itself, 7 the shapes of lines,
// 8 chains and trees while the lines go by, 9 reading, 10 the command line. Of what has gone by only each chain's end is kept, the
// roots of full subtrees, and blanked values that no erasure accounts for yet: memory does not grow with the log.

"""+s[j:]
sub("""function rootFraction(prime, degree) {
  let [low, high] = [0n, 1n << 72n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** degree <= BigInt(prime) << (64n * degree)) low = middle;
    else high = middle;
  }
  return BigInt.asUintN(64, low);
}

""","""function rootFraction(prime, degree) {
  let low = 0n;
  for (let bit = 1n << 71n; bit > 0n; bit >>= 1n) if ((low + bit) ** degree <= BigInt(prime) << (64n * degree)) low += bit;
  return BigInt.asUintN(64, low);
}
""")
sub("""      at += taken;
      this.length += taken;
""","""      at += taken;
      this.length += taken;
""")
sub("""  if (end < 0 ||""","""  if (end < 0 ||""")
# jcs of string
open('v1.txt','w').write(s)
