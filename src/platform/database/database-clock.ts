import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';

/** The clock by which everything is decided. */
@Injectable()
export class DatabaseClock {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async now(): Promise<Date> {
    const [row] = await this.dataSource.query<[{ now: Date }]>('select clock_timestamp() as now');
    return row.now;
  }
}
