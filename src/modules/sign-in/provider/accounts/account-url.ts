const PLACEHOLDER = '{sub}';

/**
 * Where the provider's administration has an account: OIDC_ADMIN_URL with the subject in place of `{sub}`, else as one more segment of
 * its path.
 *
 * @returns undefined for a subject that no address can name: `.` and `..` would lead to another object
 */
export function accountUrl(adminUrl: string, subject: string): string | undefined {
  if (subject === '.' || subject === '..' || subject === '') return undefined;
  const encoded = encodeURIComponent(subject);
  if (adminUrl.includes(PLACEHOLDER)) return new URL(adminUrl.replaceAll(PLACEHOLDER, () => encoded)).href;
  const url = new URL(adminUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${encoded}`;
  return url.href;
}
