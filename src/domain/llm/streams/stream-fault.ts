/** The provider's stream is not as it must be, or says itself that it failed. */
export class StreamFault extends Error {}
