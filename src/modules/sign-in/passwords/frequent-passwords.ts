let words: Promise<ReadonlySet<string>> | undefined;

/** What people choose most, in lower case. Loaded at the first use, since a start does not need the 49,000 words. */
export function frequentPasswords(): Promise<ReadonlySet<string>> {
  return (words ??= load());
}

async function load(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return new Set(dictionary['passwords-common']);
}
