import { describe, expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { PersonAtKeyboard, showRequest, type ShownRequest } from '../../../demo/person.js';
import { Stage } from '../../../demo/stage.js';

class Keys extends EventEmitter {
  raw = false;
  setRawMode(on: boolean) {
    this.raw = on;
  }
  resume() {}
  pause() {}
}

function screen(isTTY = true, columns = 80) {
  let written = '';
  return { isTTY, columns, write: (text: string) => (written += text), written: () => written };
}

const asked = (more: Partial<ShownRequest> = {}): ShownRequest => ({
  id: 'hitl_1', agent_name: 'purchasing', capability: 'shop.order', hitl_mode: 'propose', status: 'pending',
  input: { item: 'steel', amount: 4_650 }, action_digest: 'ab'.repeat(32),
  reasons: [{ detail: 'The grant says auto.' }, { detail: 'Condition 1 holds and asks for propose' }],
  expires_at: new Date(Date.now() + 299_500).toISOString(), ...more,
});

function seat(request: ShownRequest) {
  const [interruption, keys, view] = [new AbortController(), new Keys(), screen()];
  const stage = new Stage(view, false, interruption.signal);
  const person = new PersonAtKeyboard(stage, keys, interruption.signal, () => interruption.abort(new Error('interrupted')));
  return { keys, view, verdict: person.decide(request) };
}

describe('the person at the keyboard', () => {
  test.each([['a', 'approve'], ['A', 'approve'], ['r', 'reject'], ['xyz\nr', 'reject']])('%j is %s', async (typed, verdict) => {
    const { keys, view, verdict: answer } = seat(asked());
    expect(view.written()).toContain('[a] approve   [r] reject   5:00 left');
    expect(keys.raw).toBe(true);
    keys.emit('data', Buffer.from(typed));
    expect(await answer).toBe(verdict);
    expect(keys.raw).toBe(false);
    expect(keys.listenerCount('data')).toBe(0);
  });

  test('control-C is no answer: it ends the demo, and the terminal is as before', async () => {
    const { keys, verdict } = seat(asked());
    keys.emit('data', Buffer.from('\u0003a'));
    await expect(verdict).rejects.toThrow('interrupted');
    expect(keys.raw).toBe(false);
  });

  test('when the time is over, nobody has answered', async () => {
    const { view, verdict } = seat(asked({ expires_at: new Date(Date.now() + 300).toISOString() }));
    expect(await verdict).toBeUndefined();
    expect(view.written()).toContain('nobody answered in time');
  });
});

describe('what is shown to whoever decides', () => {
  const shown = (request: ShownRequest, columns = 80) => {
    const view = screen(false, columns);
    showRequest(new Stage(view, false, new AbortController().signal), request);
    return view.written();
  };

  test('all that the decision is about', () => {
    const text = shown(asked());
    const parts = ['purchasing', 'shop.order', 'item: "steel"', 'amount: 4650', 'The grant says auto.', 'ab'.repeat(16), '5:00'];
    for (const part of parts) expect(text).toContain(part);
    expect(text).toContain('Condition 1 holds and asks for propose');
  });

  test('fits a terminal, however long the input is', () => {
    for (const columns of [80, 60, 300]) {
      const text = shown(asked({ input: { text: 'word '.repeat(80), id: 'x'.repeat(300) } }), columns);
      const widths = text.split('\n').filter((row) => row !== '').map((row) => [...row].length);
      expect(new Set(widths).size).toBe(1);
      expect(widths[0]).toBeLessThanOrEqual(columns);
    }
  });

  test('an input that would drive the terminal, or read as another, is spelt out', () => {
    const text = shown(asked({ agent_name: 'x\u001b[2J', input: { to: 'a\u202eb', note: '\u0007\u009b31m' } }));
    expect(text).not.toMatch(/[\u001b\u202e\u0007\u009b]/);
    expect(text).toContain('to: "a\\u{202e}b"');
  });
});
