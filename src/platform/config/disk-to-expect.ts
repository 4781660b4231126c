/** What a start and `doctor` say of the disk. Measured: docs/capacity.md. */
export const DISK_TO_EXPECT = 'some 8 KB of disk a governed call, or 0.7 GB a day at one call a second';
