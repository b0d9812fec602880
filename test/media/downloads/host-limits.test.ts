import { expect, test } from 'vitest';
import { HostLimits } from '../../../shared/media/downloads/host-limits.ts';

const owner = { organizationId: 'a', host: 'host' };

/** Counts responses that use the whole limit. */
function respond(limits: HostLimits, times: number, responseMs = 10) {
  for (let i = 0; i < times; i += 1) {
    limits.succeeded(owner, { responseMs, concurrent: limits.of(owner) });
  }
}

test('grows by each response up to the configured maximum', () => {
  const limits = new HostLimits(16);
  expect(limits.of(owner)).toBe(6);
  respond(limits, 3);
  expect(limits.of(owner)).toBe(9);
  respond(limits, 100);
  expect(limits.of(owner)).toBe(16);
});

test('over a shared connection it starts higher and grows to another maximum, until the host has none', () => {
  let streams: number | null = 64;
  const limits = new HostLimits(16, () => streams);
  expect(limits.of(owner)).toBe(16);
  respond(limits, 100);
  expect(limits.of(owner)).toBe(64);
  limits.failed(owner, Infinity);
  expect(limits.of(owner)).toBe(32);
  streams = null;
  respond(limits, 32);
  expect(limits.of(owner)).toBe(16);
});

test('never exceeds the streams that a host accepts', () => {
  const limits = new HostLimits(16, () => 3);
  respond(limits, 100);
  expect(limits.of(owner)).toBe(3);
});

test('never exceeds a configured maximum below its start', () => {
  const limits = new HostLimits(2);
  respond(limits, 100);
  expect(limits.of(owner)).toBe(2);
});

test('does not grow while the host responds more slowly than before, or while it is unused', () => {
  const limits = new HostLimits(16);
  respond(limits, 1, 10);
  respond(limits, 100, 100);
  for (let i = 0; i < 100; i += 1) limits.succeeded(owner, { responseMs: 10, concurrent: 1 });
  expect(limits.of(owner)).toBe(7);
});

test('halves once for all requests of a time, down to one, and then grows by one for each full round', () => {
  const limits = new HostLimits(16);
  const beganAt = performance.now();
  for (let i = 0; i < 6; i += 1) limits.failed(owner, beganAt);
  expect(limits.of(owner)).toBe(3);
  for (let i = 0; i < 6; i += 1) limits.failed(owner, Infinity);
  expect(limits.of(owner)).toBe(1);
  respond(limits, 1 + 2);
  expect(limits.of(owner)).toBe(3);
});

test('failures of one organization’s requests do not slow another’s', () => {
  const limits = new HostLimits(16);
  limits.failed(owner, Infinity);
  expect(limits.of({ ...owner, organizationId: 'b' })).toBe(6);
});
