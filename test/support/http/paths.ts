/** The gate. */
export const EXECUTE = '/api/v1/execute';
