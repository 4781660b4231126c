import { Inject, Injectable } from '@nestjs/common';
import type { ItemOutcome } from '../../../platform/database/batching/batcher.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type Span, type SpanEnd, Tracing } from '../../../platform/tracing/tracing.js';
import { AdmissionBatch } from './admission-batch.service.js';
import type { AdmissionAnswer, AdmissionItem } from './admission-item.js';

/** A batch of the gate; where calls are traced, each call of it has a span of its decision and one of the commit that they share. */
@Injectable()
export class TracedBatch {
  constructor(
    @Inject(AdmissionBatch) private readonly batch: AdmissionBatch,
    private readonly tracing: Tracing,
  ) {}

  process(items: AdmissionItem[]): Promise<ItemOutcome<AdmissionAnswer>[]> {
    return this.tracing.isOn ? this.traced(items) : this.batch.process(items);
  }

  private async traced(items: AdmissionItem[]): Promise<ItemOutcome<AdmissionAnswer>[]> {
    const spans = new Map(items.map((item) => [item, this.begin('gate.decide', item, items.length)]));
    let outcomes: readonly ItemOutcome<AdmissionAnswer>[] = [];
    try {
      return outcomes = await this.batch.process(items, (committed) => {
        for (const item of committed) {
          spans.get(item)!.end();
          spans.set(item, this.begin('gate.commit', item, committed.length));
        }
      });
    } finally {
      items.forEach((item, i) => spans.get(item)!.end(endOf(outcomes[i])));
    }
  }

  private begin(name: string, { traceparent }: AdmissionItem, size: number): Span {
    return this.tracing.begin({ name, parent: traceparent, facts: { 'countersign.batch.size': size } });
  }
}

function endOf(outcome: ItemOutcome<AdmissionAnswer> | undefined): SpanEnd {
  if (outcome?.kind === 'answer') return { facts: { 'countersign.decision': outcome.answer.kind } };
  if (outcome?.kind === 'again') return { facts: { 'countersign.again': true } };
  return { failure: outcome?.error instanceof Problem ? outcome.error.code : 'INTERNAL' };
}
