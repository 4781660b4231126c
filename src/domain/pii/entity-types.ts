/** What the scan finds, by Presidio's names where it has one. The order is that of the documentation. */
export const ENTITY_TYPES = [
  'EMAIL_ADDRESS', 'PHONE_NUMBER', 'CREDIT_CARD', 'IBAN_CODE', 'IP_ADDRESS', 'MAC_ADDRESS', 'URL', 'CRYPTO', 'SECRET', 'DATE_OF_BIRTH',
  'US_SSN', 'CA_SIN', 'BR_CPF', 'MX_CURP', 'UK_NINO', 'UK_NHS', 'DE_TAX_ID', 'FR_NIR', 'ES_NIF', 'ES_NIE', 'IT_FISCAL_CODE',
  'PT_NIF', 'NL_BSN', 'BE_NATIONAL_NUMBER', 'PL_PESEL', 'SE_PERSONNUMMER', 'FI_PERSONAL_IDENTITY_CODE', 'NO_FODSELSNUMMER', 'TR_TCKN',
  'IN_AADHAAR', 'IN_PAN', 'CN_RESIDENT_ID', 'KR_RRN', 'AU_TFN', 'ZA_ID_NUMBER', 'TERM',
] as const;

export type EntityType = (typeof ENTITY_TYPES)[number];

/** How many of each type were found; types that were not found are left out. */
export type EntityCounts = Partial<Record<EntityType, number>>;

/** Adds one to a type's count. */
export function countEntity(counts: EntityCounts, type: EntityType): void {
  counts[type] = (counts[type] ?? 0) + 1;
}
