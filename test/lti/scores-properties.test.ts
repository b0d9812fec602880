import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Fault, Service } from '../../simulator/faults.ts';
import type { Score } from '../../simulator/model.ts';
import { sendScore } from '../../shared/lti/scores/send.ts';
import { scoreValuesOf } from '../../shared/lti/scores/grade.ts';
import type { ScoreValues } from '../../shared/models/lti-score.ts';
import { claimScore, recordSent, retryScores } from '../../shared/models/lti-score-changes.ts';
import type { ClaimedScore } from '../../shared/models/lti-score-changes.ts';
import { completed, useScoreLab } from './support/score-lab.ts';
import type { GradedLearner, Told } from './support/score-lab.ts';

const lab = useScoreLab();
const never = new AbortController().signal;

/** Few values, so that records often return to an earlier score, where duplicate detection can fail. */
const records: Told[] = [completed(0), completed(50)];

const faults: [Service, Fault][] = [
  ['scores', { status: 503 }],
  ['scores', { status: 400 }],
  ['scores', { status: 401 }],
  ['scores', { drop: true }],
  // For both links.
  ['scores', { drop: true, afterwards: true, times: 2 }],
  ['scores', { status: 500, afterwards: true, times: 2 }],
  ['scores', { status: 409, afterwards: true, times: 2 }],
];

const partly = [
  ...(['save', 'passTime', 'claim', 'claimAndSend', 'sendLate'] as const),
  ...(['jumpAhead', 'resend'] as const),
];

type Step =
  | { kind: 'try'; save: number | null; fault: number | null; senders: number; meanwhile: number | null }
  | { kind: (typeof partly)[number]; save: number };

const record = fc.nat(records.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('try' as const),
    save: fc.option(record, { freq: 4 }),
    fault: fc.option(fc.nat(faults.length - 1), { freq: 2 }),
    senders: fc.constantFrom(1, 1, 2),
    meanwhile: fc.constantFrom(null, null, 0, 1),
  }),
  fc.record({ kind: fc.constantFrom(...partly), save: record }),
);

/** A learner with two links to one lesson, and every complete or interrupted step of the processes. */
class Play {
  readonly links: GradedLearner[];
  /** Every score that the record had, in order. */
  readonly said: Pick<ScoreValues, 'scoreGiven' | 'scoreMaximum'>[] = [];
  /** Claims of senders that were stopped in the middle and may still continue. */
  readonly stopped: ClaimedScore[] = [];

  constructor(links: GradedLearner[]) {
    this.links = links;
  }

  async run(step: Step): Promise<void> {
    const { db } = lab.harness;
    if (step.kind === 'save') return this.save(step.save);
    if (step.kind === 'try') return this.try(step);
    if (step.kind === 'passTime') return lab.passTime();
    if (step.kind === 'resend') return void (await retryScores(db, await this.ids()));
    if (step.kind === 'jumpAhead') {
      // A clock that was ahead by an hour is right again.
      const lastTimestamp = new Date(Date.now() + 3600_000);
      await db.ltiScores.updateMany({ _id: { $in: await this.ids() } }, { $max: { lastTimestamp } });
      return;
    }
    if (step.kind === 'sendLate') {
      const row = this.stopped.shift();
      if (row === undefined) return;
      const taken = await this.sendOf(row);
      if (taken !== null) await recordSent(db, row, taken);
      return;
    }
    for (const id of await this.ids()) {
      const row = await claimScore(db, { _id: id });
      if (row === null) continue;
      if (step.kind === 'claimAndSend') await this.sendOf(row);
      else this.stopped.push(row);
    }
  }

  private async save(index: number): Promise<void> {
    const told = records[index] as Told;
    await lab.tell(this.links[0] as GradedLearner, told);
    const { scoreGiven, scoreMaximum } = scoreValuesOf({ finished: told.finished ?? null }) as ScoreValues;
    this.said.push({ scoreGiven, scoreMaximum });
  }

  private async try({ save, fault, senders, meanwhile }: Extract<Step, { kind: 'try' }>): Promise<void> {
    if (save !== null) await this.save(save);
    if (fault !== null) lab.simulator.fail(...(faults[fault] as [Service, Fault]));
    await lab.passTime();
    await Promise.all([
      ...Array.from({ length: senders }, () => lab.createSender().sender.sendDue()),
      meanwhile === null ? undefined : this.save(meanwhile),
    ]);
    lab.simulator.heal();
  }

  private sendOf(row: ClaimedScore) {
    return sendScore({ ...lab.service, db: lab.harness.db }, row, never).catch(() => null);
  }

  private async ids(): Promise<string[]> {
    return Promise.all(this.links.map(async (link) => (await lab.rowOf(link))._id));
  }

  /** All processes are healthy again, and the operator retries what has failed. */
  async settle(): Promise<void> {
    const { db } = lab.harness;
    const failed = await Promise.all(this.links.map((link) => lab.rowOf(link)));
    await retryScores(
      db,
      failed.filter(({ state }) => state === 'failed').map(({ _id }) => _id),
    );
    await lab.passTime();
    for (const link of this.links) await lab.send(link);
  }
}

test('whatever fails or dies, the platform finally has the newest record, and got all scores in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const first = await lab.addLearner();
      const play = new Play([first, await lab.addLinkFor(first)]);
      for (const one of steps) {
        await play.run(one);
        for (const link of play.links) await expectAtRest(link);
      }
      await play.settle();
      for (const link of play.links) {
        const taken = lab.taken(link);
        const times = taken.map(({ timestamp }) => Date.parse(timestamp));
        expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
        expect(taken.at(-1) ?? null).toEqual(
          play.said.length === 0 ? null : expect.objectContaining(play.said.at(-1) as object),
        );
        expect(await lab.rowOf(link)).toMatchObject({ state: 'idle' });
        expectInOrder(taken, play.said);
      }
    }),
    { numRuns: 6 },
  );
}, 300_000);

/** A row that has nothing due belongs to a platform that has the wanted score. */
async function expectAtRest(link: GradedLearner): Promise<void> {
  const { state, wanted } = await lab.rowOf(link);
  if (state !== 'idle' || wanted === null) return;
  expect(lab.taken(link).at(-1)).toMatchObject({ scoreGiven: wanted.scoreGiven });
}

/** Every accepted score was a score of the record, and none is older than the one before it. */
function expectInOrder(taken: Score[], said: Play['said']): void {
  let place = 0;
  for (const { scoreGiven, scoreMaximum } of taken) {
    const values = { scoreGiven, scoreMaximum };
    const next = said.findIndex(
      (one, index) => index >= place && JSON.stringify(one) === JSON.stringify(values),
    );
    expect({ values, found: next >= place }).toEqual({ values, found: true });
    place = next;
  }
}
