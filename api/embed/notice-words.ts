import { wordsIn } from '../http/messages-in.ts';

/**
 * What the script of the embed page says to a learner, around the lesson. The page holds the words of its own language,
 * so that they are there without a network. Another language is one more entry in `all`; the compiler names the words
 * it lacks.
 */
const en = {
  elsewhere: 'This lesson is open in another tab.',
  conflict: 'This lesson was continued in another tab or on another device.',
  continueHere: 'Continue here',
  offline: 'No connection.',
  kept: 'Your answers are kept on this device and will be saved later.',
  keepOpen: 'Keep this page open until your answers are saved.',
  expired: 'Your session has ended. Open the lesson from your course again.',
  gone: 'This lesson is no longer available.',
  lost: 'An answer could not be saved.',
  saved: 'Everything is saved.',
  stuck: 'The lesson could not be loaded.',
  reload: 'Try again',
  back: 'Back to the course',
  preview: 'Preview for teachers: nothing is recorded.',
  authorPreview: 'Preview: nothing is recorded.',
  anonymous: 'Your course does not tell who you are, so nothing you do here is recorded.',
};

/** In one language: player/embed-page/notice-words.ts has the same fields. */
export type NoticeWords = typeof en;

const es: NoticeWords = {
  elsewhere: 'Esta lección está abierta en otra pestaña.',
  conflict: 'Esta lección se ha continuado en otra pestaña o en otro dispositivo.',
  continueHere: 'Continuar aquí',
  offline: 'Sin conexión.',
  kept: 'Tus respuestas se conservan en este dispositivo y se guardarán más tarde.',
  keepOpen: 'Mantén esta página abierta hasta que se guarden tus respuestas.',
  expired: 'Tu sesión ha terminado. Abre de nuevo la lección desde tu curso.',
  gone: 'Esta lección ya no está disponible.',
  lost: 'No se ha podido guardar una respuesta.',
  saved: 'Todo está guardado.',
  stuck: 'No se ha podido cargar la lección.',
  reload: 'Intentar de nuevo',
  back: 'Volver al curso',
  preview: 'Vista previa para docentes: no se registra nada.',
  authorPreview: 'Vista previa: no se registra nada.',
  anonymous: 'Tu curso no indica quién eres, así que no se registra nada de lo que haces aquí.',
};

const fr: NoticeWords = {
  elsewhere: 'Cette leçon est ouverte dans un autre onglet.',
  conflict: 'Cette leçon a été poursuivie dans un autre onglet ou sur un autre appareil.',
  continueHere: 'Continuer ici',
  offline: 'Pas de connexion.',
  kept: 'Vos réponses sont conservées sur cet appareil et seront enregistrées plus tard.',
  keepOpen: 'Gardez cette page ouverte jusqu’à ce que vos réponses soient enregistrées.',
  expired: 'Votre session est terminée. Rouvrez la leçon depuis votre cours.',
  gone: 'Cette leçon n’est plus disponible.',
  lost: 'Une réponse n’a pas pu être enregistrée.',
  saved: 'Tout est enregistré.',
  stuck: 'Impossible de charger la leçon.',
  reload: 'Réessayer',
  back: 'Retour au cours',
  preview: 'Aperçu pour enseignants\u00a0: rien n’est enregistré.',
  authorPreview: 'Aperçu\u00a0: rien n’est enregistré.',
  anonymous:
    'Votre cours n’indique pas qui vous êtes\u00a0: rien de ce que vous faites ici n’est enregistré.',
};

const de: NoticeWords = {
  elsewhere: 'Diese Lektion ist in einem anderen Tab geöffnet.',
  conflict: 'Diese Lektion wurde in einem anderen Tab oder auf einem anderen Gerät fortgesetzt.',
  continueHere: 'Hier weitermachen',
  offline: 'Keine Verbindung.',
  kept: 'Deine Antworten bleiben auf diesem Gerät und werden später gespeichert.',
  keepOpen: 'Lass diese Seite offen, bis deine Antworten gespeichert sind.',
  expired: 'Deine Sitzung ist abgelaufen. Öffne die Lektion noch einmal aus deinem Kurs.',
  gone: 'Diese Lektion ist nicht mehr verfügbar.',
  lost: 'Eine Antwort konnte nicht gespeichert werden.',
  saved: 'Alles ist gespeichert.',
  stuck: 'Die Lektion konnte nicht geladen werden.',
  reload: 'Noch einmal versuchen',
  back: 'Zurück zum Kurs',
  preview: 'Vorschau für Lehrende: Es wird nichts gespeichert.',
  authorPreview: 'Vorschau: Es wird nichts gespeichert.',
  anonymous: 'Dein Kurs sagt nicht, wer du bist. Deshalb wird hier nichts gespeichert.',
};

const pt: NoticeWords = {
  elsewhere: 'Esta lição está aberta em outra aba.',
  conflict: 'Esta lição foi continuada em outra aba ou em outro dispositivo.',
  continueHere: 'Continuar aqui',
  offline: 'Sem conexão.',
  kept: 'Suas respostas ficam neste dispositivo e serão salvas mais tarde.',
  keepOpen: 'Mantenha esta página aberta até que suas respostas sejam salvas.',
  expired: 'Sua sessão terminou. Abra a lição novamente a partir do seu curso.',
  gone: 'Esta lição não está mais disponível.',
  lost: 'Não foi possível salvar uma resposta.',
  saved: 'Tudo está salvo.',
  stuck: 'Não foi possível carregar a lição.',
  reload: 'Tentar novamente',
  back: 'Voltar ao curso',
  preview: 'Pré-visualização para professores: nada é registrado.',
  authorPreview: 'Pré-visualização: nada é registrado.',
  anonymous: 'Seu curso não informa quem você é, por isso nada do que você faz aqui é registrado.',
};

const ar: NoticeWords = {
  elsewhere: 'هذا الدرس مفتوح في علامة تبويب أخرى.',
  conflict: 'تمت متابعة هذا الدرس في علامة تبويب أخرى أو على جهاز آخر.',
  continueHere: 'المتابعة هنا',
  offline: 'لا يوجد اتصال.',
  kept: 'إجاباتك محفوظة على هذا الجهاز وسيتم إرسالها لاحقًا.',
  keepOpen: 'أبقِ هذه الصفحة مفتوحة حتى يتم حفظ إجاباتك.',
  expired: 'انتهت جلستك. افتح الدرس مرة أخرى من مقررك.',
  gone: 'لم يعد هذا الدرس متاحًا.',
  lost: 'تعذّر حفظ إحدى الإجابات.',
  saved: 'تم حفظ كل شيء.',
  stuck: 'تعذّر تحميل الدرس.',
  reload: 'حاول مرة أخرى',
  back: 'العودة إلى المقرر',
  preview: 'معاينة للمعلمين: لا يتم تسجيل أي شيء.',
  authorPreview: 'معاينة: لا يتم تسجيل أي شيء.',
  anonymous: 'لا يخبرنا مقررك من أنت، لذلك لا يتم تسجيل ما تفعله هنا.',
};

const zh: NoticeWords = {
  elsewhere: '此课程已在另一个标签页中打开。',
  conflict: '此课程已在另一个标签页或另一台设备上继续学习。',
  continueHere: '在此继续',
  offline: '没有网络连接。',
  kept: '你的答案已保留在此设备上，稍后会保存。',
  keepOpen: '在答案保存之前，请不要关闭此页面。',
  expired: '你的会话已结束。请从课程中重新打开。',
  gone: '此课程已不可用。',
  lost: '有一个答案无法保存。',
  saved: '已全部保存。',
  stuck: '无法加载课程。',
  reload: '重试',
  back: '返回课程页面',
  preview: '教师预览：不会记录任何内容。',
  authorPreview: '预览：不会记录任何内容。',
  anonymous: '你的课程没有说明你是谁，因此你在这里所做的一切都不会被记录。',
};

const all = { en, es, fr, de, pt, ar, zh };

/** As {@link wordsIn}. */
export function noticeWords(language: string): NoticeWords {
  return wordsIn(all, language);
}
