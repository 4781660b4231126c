process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../api/agents/tokens.test.js');

export {};
