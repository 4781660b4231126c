process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../../src/domain/audit/integrity/verify-log.test.js');
await import('../../../src/domain/audit/tree/verify-map.test.js');
await import('../../../src/domain/audit/export/windows.test.js');

export {};
