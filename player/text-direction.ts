// A rule that pages made on the server follow too.
export { textDirection } from '../shared/lessons/text-direction.ts';
