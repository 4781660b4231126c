import { describe, expect, it } from '@jest/globals';
import { type GiveBack, type House, VerificationPlaces } from './verification-places.js';

const [a, b, c, d]: House[] = [['a'], ['b'], ['c'], ['d']];

/** Takes what there is. @returns whether each of them got a place */
const taken = (places: VerificationPlaces, houses: readonly House[]) => houses.map((house) => places.take(house) !== undefined);

describe('places', () => {
  it('are two for a house, and for whoever shares a part of it', () => {
    expect(taken(new VerificationPlaces(), [a!, ['a', 'b'], a!, ['b', 'a'], b!, b!])).toEqual([true, true, false, false, true, false]);
  });

  it('keep the last for a house that has none', () => {
    expect(taken(new VerificationPlaces(), [a!, a!, b!, b!, c!, d!])).toEqual([true, true, true, false, true, false]);
  });

  it('go to those who wait in the order in which they came, past those whose house has its two', async () => {
    const places = new VerificationPlaces();
    const held = [a!, a!, b!, c!].map((house) => places.take(house)!);
    const got: string[] = [];
    const waiting = ([['a 1', a!], ['d', d!], ['a 2', a!], ['b', b!]] as const).map(async ([name, house]) => {
      const giveBack = (await places.wait(house))!;
      got.push(name);
      return giveBack;
    });
    // The last place is not for a house that has one.
    held[0]!();
    (await waiting[1]!)();
    held[2]!();
    await waiting[3]!;
    expect(got).toEqual(['d', 'a 1', 'b']);
    held[1]!();
    held[3]!();
    await waiting[2]!;
    expect(got).toEqual(['d', 'a 1', 'b', 'a 2']);
  });

  it('that are not needed any more are not taken', async () => {
    const places = new VerificationPlaces();
    const held = [a!, a!].map((house) => places.take(house)!);
    let isNeeded = true;
    const waiting = places.wait(a!, () => isNeeded);
    isNeeded = false;
    places.offer();
    expect(await waiting).toBeUndefined();
    held[0]!();
    expect(places.take(a!)).toBeDefined();
  });

  it('given back twice are one', () => {
    const places = new VerificationPlaces();
    const [first] = [places.take(a!)!, places.take(a!)!] as [GiveBack, GiveBack];
    first();
    first();
    expect(taken(places, [a!, a!])).toEqual([true, false]);
  });
});
