/**
 * Matches roles of LTI 1.3 (Core, appendix A.2). A role in the context, such as a course, is "…/membership#Learner",
 * "…/membership/Instructor#TeachingAssistant" or a short name. Other roles hold in the institution or the system.
 */
const contextRole = /^(?:http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/membership(?:\/(\w+))?#)?(\w+)$/;
const otherRole = /^http:\/\/purl\.imsglobal\.org\/vocab\/lis\/v2\/(?:institution|system)\/person#(\w+)$/;

const learners = ['Learner', 'Student'];
/** They follow someone else's work, such as parents in Canvas. */
const observers = ['Mentor', 'Observer'];
const staff = [
  'Administrator',
  'ContentDeveloper',
  'Faculty',
  'Instructor',
  'Manager',
  'Officer',
  'Staff',
  'SysAdmin',
  'SysSupport',
  'TeachingAssistant',
];

/**
 * Returns why Lectern records nothing of a user who is not a learner: `preview` for staff, `observer` for others who
 * only watch. Null for learners; unknown roles are learners.
 */
export function untrackedRole(roles: readonly string[]): 'preview' | 'observer' | null {
  const deciding = decidingRoles(roles);
  if (deciding.some(isLearner)) return null;
  if (deciding.some(isStaff)) return 'preview';
  return deciding.some(isObserver) ? 'observer' : null;
}

/** Whether the user may choose a course's lessons: not one who is only a learner or an observer. */
export function mayChooseLessons(roles: readonly string[]): boolean {
  const deciding = decidingRoles(roles);
  return deciding.some(isStaff) || !deciding.some((role) => isLearner(role) || isObserver(role));
}

/** Returns the names of the user's roles in the course, or of those elsewhere if there are none in the course. */
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

function isObserver(role: string): boolean {
  return observers.includes(role);
}

function isLearner(role: string): boolean {
  return learners.includes(role);
}
