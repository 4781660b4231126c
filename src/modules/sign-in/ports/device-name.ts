const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'], [/\bOPR\//, 'Opera'], [/\b(?:Firefox|FxiOS)\//, 'Firefox'], [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:HeadlessChrome|Chromium)\//, 'Chromium'], [/\b(?:Chrome|CriOS)\//, 'Chrome'], [/\bVersion\/[\d.]+ .*\bSafari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'], [/\biPad\b/, 'iPad'], [/\bAndroid\b/, 'Android'], [/\bWindows\b/, 'Windows'], [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'], [/\bLinux\b/, 'Linux'],
];
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]{0,30}/;

/**
 * What a browser says it is (the header `User-Agent`), in words that its owner knows it by: "Firefox on Linux". Of a program, its
 * name. It proves nothing: it is there so that people recognize their own entries.
 */
export function deviceOf(userAgent: string | null | undefined): string {
  const text = userAgent ?? '';
  const browser = nameIn(BROWSERS, text);
  const system = nameIn(SYSTEMS, text);
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`;
  return system ?? PLAIN.exec(text)?.[0] ?? 'An unknown device';
}

function nameIn(table: readonly (readonly [RegExp, string])[], text: string): string | undefined {
  return table.find(([form]) => form.test(text))?.[1];
}
