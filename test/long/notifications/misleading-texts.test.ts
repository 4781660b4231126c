process.env['COUNTERSIGN_WHOLE'] = '1';
await import('../../../src/domain/notifications/channel-messages.test.js');

export {};
