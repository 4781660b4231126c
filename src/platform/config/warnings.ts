import type { Config } from './config.js';

/** What may be meant, and mostly is a mistake. Each is one line that opens with the variable. */
export function warningsAbout(config: Pick<Config, 'production' | 'appUrl' | 'oidcIssuer' | 'oidcJit' | 'oidcDefaultRole'>): string[] {
  if (config.oidcIssuer === undefined) return [];
  const warnings: string[] = [];
  if (config.production && !config.appUrl.startsWith('https:')) {
    warnings.push('APP_URL: is not https, so sessions of people can be read on their way');
  }
  if (config.oidcJit && config.oidcDefaultRole === 'owner') {
    warnings.push('OIDC_DEFAULT_ROLE: is owner, so whoever the provider knows owns the organization unless a token says less');
  }
  return warnings;
}
