/*
 * The script of the page behind a choice of lessons: its form carries what was chosen to the platform. Without it the
 * form has a button.
 */

(document.getElementById('lectern-sent') as HTMLFormElement | null)?.submit();
