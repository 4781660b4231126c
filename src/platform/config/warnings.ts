import type { Config } from './config.js';

/** What may be meant, and mostly is a mistake. Each is one line that opens with the variable. */
export function warningsAbout(
  config: Pick<Config, 'production' | 'appUrl' | 'auditAnchors' | 'oidcIssuer' | 'oidcJit' | 'oidcDefaultRole'>,
): string[] {
  const warnings: string[] = [];
  if (config.auditAnchors.length === 0) {
    warnings.push('AUDIT_ANCHORS: is none, so nothing outside of the database shows when it was rewritten or put back');
  }
  if (config.oidcIssuer === undefined) return warnings;
  if (config.production && !config.appUrl.startsWith('https:')) {
    warnings.push('APP_URL: is not https, so sessions of people can be read on their way');
  }
  if (config.oidcJit && config.oidcDefaultRole === 'owner') {
    warnings.push('OIDC_DEFAULT_ROLE: is owner, so whoever the provider knows owns the organization unless a token says less');
  }
  return warnings;
}
