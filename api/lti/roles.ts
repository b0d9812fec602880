/**
 * Roles of LTI 1.3 (Core, appendix A.2). A role in the context, such as a course, is named "…/membership#Learner", a
 * finer one "…/membership/Instructor#TeachingAssistant", or by its short name alone; others are of the institution or
 * the whole system.
 */
const contextRole = /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:\/(\w+))?#)?(\w+)$/;
const otherRole = /^http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/(?:institution|system)\/person#(\w+)$/;

const learners = ['Learner', 'Student'];
const staff = [
  'Administrator',
  'ContentDeveloper',
  'Faculty',
  'Instructor',
  'Manager',
  'Mentor',
  'Officer',
  'Staff',
  'SysAdmin',
  'SysSupport',
  'TeachingAssistant',
];

/**
 * Whether whoever launches only looks at the lesson, as teachers do: what they do there is nobody's progress. What
 * somebody is in the course decides; of who is nothing there, what they are elsewhere. Whoever learns in any way, or is
 * nothing that is known, learns.
 */
export function isPreview(roles: readonly string[]): boolean {
  const deciding = decidingRoles(roles);
  return deciding.some(isStaff) && !deciding.some(isLearner);
}

/** Whether somebody learns and does nothing else in the course: what belongs into it is not theirs to say. */
export function isOnlyLearner(roles: readonly string[]): boolean {
  const deciding = decidingRoles(roles);
  return deciding.some(isLearner) && !deciding.some(isStaff);
}

/** What somebody is in the course; of who is nothing there, what they are elsewhere. */
function decidingRoles(roles: readonly string[]): string[] {
  const inContext = roles.flatMap((role) => {
    const [, principal, name] = contextRole.exec(role) ?? [];
    return principal ?? name ?? [];
  });
  const elsewhere = roles.flatMap((role) => otherRole.exec(role)?.[1] ?? []);
  return inContext.length > 0 ? inContext : elsewhere;
}

function isStaff(role: string): boolean {
  return staff.includes(role);
}

function isLearner(role: string): boolean {
  return learners.includes(role);
}
