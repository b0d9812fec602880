/* The script of the page after a choice of lessons: it submits the choice to the platform. Without it, the form has a button. */

(document.getElementById('lectern-sent') as HTMLFormElement | null)?.submit();
