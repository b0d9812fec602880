import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { claim } from '../../shared/lti/claims.ts';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LtiResourceLink } from '../../shared/models/lti-resource-link.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { buildOrganization } from '../support/factories.ts';
import { claimsOf, expectRejection, useLaunchLab } from './support/launch-lab.ts';
import type { LaunchAnswer } from './support/launch-lab.ts';

const lab = useLaunchLab();

const publish = (options: Parameters<typeof publishLesson>[2] = {}) =>
  publishLesson(lab.harness, lab.organization, options);
const lessonOf = (answer: LaunchAnswer) => {
  const { lessonId, versionId } = claimsOf(answer);
  return { lessonId, versionId };
};
const newest = ({ lessonId }: LessonVersion) => ({ lessonId, versionId: null });

describe('a launch finds its lesson', () => {
  test('by the custom parameters from deep linking, also with a pinned version', async () => {
    const { _id: versionId, lessonId } = await publish();
    await publish({ lessonId });
    const link = lab.addLink({ custom: { lesson_id: lessonId.toUpperCase(), version_id: versionId } });
    expect(lessonOf(await lab.launch({ link }))).toEqual({ lessonId, versionId });
  });

  test("by the link's URL, unless its custom parameters name another lesson", async () => {
    const inAddress = await publish();
    const url = `${lab.address}/lti/launch?lesson=${inAddress.lessonId}`;
    const plain = lab.addLink({ url, custom: { lesson_id: '$Lesson.id' } });
    expect(lessonOf(await lab.launch({ link: plain }))).toEqual(newest(inAddress));
    const written = lab.addLink({ url });
    expect(lessonOf(await lab.launch({ link: written }))).toEqual(newest(lab.version));
  });

  test("by the path of the link's URL, as in cartridges whose custom parameters an importer dropped", async () => {
    const { _id: versionId, lessonId } = await publish();
    await publish({ lessonId });
    const open = async (path: string) => {
      const link = lab.addLink({
        url: `${lab.address}/lti/launch/${path}`,
        custom: { lesson_id: '$Lesson.id' },
      });
      return lessonOf(await lab.launch({ link }));
    };
    expect(await open(`${lessonId}/${versionId}`)).toEqual({ lessonId, versionId });
    expect(await open(lessonId)).toEqual({ lessonId, versionId: null });
  });

  test('by the lesson that the link opened before', async () => {
    const version = await publish();
    const link = lab.addLink({ custom: { lesson_id: version.lessonId, version_id: version._id } });
    const first = lessonOf(await lab.launch({ link }));
    const tampering = { claims: { [claim.custom]: undefined } };
    expect(lessonOf(await lab.launch({ link, tampering }))).toEqual(first);
  });

  test('by the history of a copied link, where the nearest link counts', async () => {
    const { simulator } = lab;
    const variables = { resource_link_history: '$ResourceLink.id.history' };
    const course = simulator.addCourse({ title: 'First' });
    const version = await publish();
    const custom = { ...variables, lesson_id: version.lessonId };
    await lab.launch({ link: lab.addLink({ course, custom }) });
    const second = simulator.copyCourse(course);
    const third = simulator.copyCourse(second);
    const [copy] = simulator.linksOf(third);
    if (copy === undefined) throw new Error('The link was not copied.');
    // The platform lost the custom parameters, and the copy in between was never launched.
    const lost = (link: typeof copy) => ({
      link,
      tampering: { claims: { [claim.custom]: { resource_link_history: copy.history.join(',') } } },
    });
    expect(lessonOf(await lab.launch(lost(copy)))).toEqual(newest(version));

    const [between] = simulator.linksOf(second);
    const other = await publish();
    const changed = { claims: { [claim.custom]: { lesson_id: other.lessonId } } };
    if (between !== undefined) await lab.launch({ link: between, tampering: changed });
    // The launch of a link that was never launched before.
    const claims = { ...lost(copy).tampering.claims, [claim.resourceLink]: { id: randomUUID() } };
    const answer = await lab.launch({ link: copy, tampering: { claims } });
    expect(lessonOf(answer)).toEqual(newest(other));
  });
});

describe('a launch is rejected', () => {
  const launchOf = (custom: Record<string, string>) => lab.launch({ link: lab.addLink({ custom }) });

  test('into a lesson or a version that is not published', async () => {
    const draft = await publish({ publish: false });
    expectRejection(await launchOf({ lesson_id: draft.lessonId }), 404, 'lesson_not_available');
    const { lessonId, _id: versionId } = await publish();
    await publish({ lessonId });
    await markVersionsUnpublished(lab.harness.db, { lessonId, versionId });
    const pinned = { lesson_id: lessonId, version_id: versionId };
    expectRejection(await launchOf(pinned), 404, 'lesson_not_available');
    const none = { lesson_id: lessonId, version_id: 'newest' };
    expectRejection(await launchOf(none), 404, 'lesson_not_available');
    expect(lessonOf(await launchOf({ lesson_id: lessonId }))).toEqual({ lessonId, versionId: null });
  });

  test('into a lesson that is deleted, unknown or of another organization', async () => {
    const deleted = await publish();
    await markLessonDeleted(lab.harness.db, deleted.lessonId);
    const { organization: stranger } = await buildOrganization(lab.harness);
    const foreign = await publishLesson(lab.harness, stranger);
    for (const lessonId of [deleted.lessonId, foreign.lessonId, randomUUID()]) {
      expectRejection(await launchOf({ lesson_id: lessonId }), 404, 'lesson_not_found');
    }
    const { _id: versionId } = foreign;
    const pinned = { lesson_id: lab.version.lessonId, version_id: versionId };
    expectRejection(await launchOf(pinned), 404, 'lesson_not_available');
  });

  test('whose lesson is known only from links of another platform or deployment', async () => {
    const link = lab.addLink();
    await lab.launch({ link });
    const { tool } = await lab.register(lab.address);
    const claims = {
      [claim.resourceLink]: { id: link.id },
      [claim.custom]: { resource_link_history: link.id },
    };
    const elsewhere = lab.addLink({ tool });
    expectRejection(await lab.launch({ link: elsewhere, tampering: { claims } }), 404, 'no_lesson');
  });
});

test("the page for an unavailable lesson is in the platform's language and links back to the course", async () => {
  const link = lab.addLink({ custom: {} });
  const presented = (return_url: string) => ({
    claims: { [claim.launchPresentation]: { locale: 'fr_CA', return_url } },
  });
  const returnUrl = 'https://lms.example/course/view.php?id=2&x=<y>';
  const refused = await lab.launch({ link, tampering: presented(returnUrl) });
  expectRejection(refused, 404, 'no_lesson');
  expect(refused.html).toContain('<html lang="fr" dir="ltr">');
  expect(refused.html).toContain(
    '<a class="button" href="https://lms.example/course/view.php?id=2&amp;x=&lt;y&gt;" target="_top">Retour au cours</a>',
  );
  const nowhere = await lab.launch({ link, tampering: presented('javascript:alert(1)') });
  expectRejection(nowhere, 404, 'no_lesson', ['javascript', 'Retour au cours']);
});

test('a launch without grade claims keeps the stored ones; a launch with grade claims replaces them', async () => {
  const { harness, simulator } = lab;
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  const kept = () => harness.db.ltiResourceLinks.findOne({ resourceLinkId: link.id }).lean<LtiResourceLink>();
  const launch = (grades: unknown) =>
    lab.launch({ link, tampering: { claims: { [claim.gradeService]: grades } } });
  await launch(undefined);
  expect(await kept()).toMatchObject({ lineItemUrl: null, lineItemsUrl: null, scopes: [] });
  await lab.launch({ link });
  const [lineItem] = simulator.lineItemsOf(link);
  const said = { lineItemUrl: lineItem && simulator.urlOf(lineItem), scopes: lab.tool.scopes };
  expect(await kept()).toMatchObject(said);
  await launch(undefined);
  expect(await kept()).toMatchObject(said);
  await launch({ scope: [] });
  expect(await kept()).toMatchObject({ lineItemUrl: null, lineItemsUrl: null, scopes: [] });
});
