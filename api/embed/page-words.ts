import { wordsIn } from '../http/messages-in.ts';

/** What went wrong where a lesson was to be shown, for people who are asked for help. */
export const failureCodes = [
  'bad_address',
  'token_expired',
  'token_invalid',
  'token_revoked',
  'wrong_lesson',
  'not_available',
  'not_playable',
  'too_many_requests',
  'server_error',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** A heading, and what to do. */
export interface Notice {
  title: string;
  text: string;
}

/** The words of the embed page in one language. */
export interface PageWords {
  /** What a page is called whose lesson is not known. */
  lesson: string;
  loading: string;
  noScript: string;
  /** Before the code of a failure. */
  code: string;
  /** Before the id of the request, by which operators find it in the log. */
  requestId: string;
  /** The label of a link. */
  back: string;
  waiting: Notice;
  /** The page around this one has no token yet. */
  delayed: string;
  failures: Record<FailureCode, Notice>;
}

const again = {
  en: 'Open the lesson again from your course.',
  es: 'Abre de nuevo la lección desde tu curso.',
  fr: 'Ouvrez à nouveau la leçon depuis votre cours.',
  de: 'Öffne die Lektion noch einmal aus deinem Kurs.',
  pt: 'Abra a lição novamente a partir do seu curso.',
  ar: 'افتح الدرس مرة أخرى من صفحة مقررك.',
  zh: '请从你的课程中重新打开本课。',
};

const en: PageWords = {
  lesson: 'Lesson',
  loading: 'Loading…',
  noScript: 'This lesson needs JavaScript. Turn it on in your browser, then reload the page.',
  code: 'Code for support',
  requestId: 'Request ID',
  back: 'Back to the course',
  waiting: {
    title: 'This lesson opens from your course',
    text: 'Go to the page of your course that has this lesson, and open it there.',
  },
  delayed: 'The lesson can’t be opened right now. We’ll keep trying.',
  failures: {
    bad_address: { title: 'This address is not complete', text: again.en },
    token_expired: {
      title: 'Your access has run out',
      text: `${again.en} You go on where your progress was last saved.`,
    },
    token_invalid: { title: 'This link does not work', text: again.en },
    token_revoked: {
      title: 'Your access has been ended',
      text: 'If you still need this lesson, ask the people who run your course.',
    },
    wrong_lesson: { title: 'This link is for another lesson', text: again.en },
    not_available: {
      title: 'This lesson is not available',
      text: 'It is not published, or has been removed. If you need it, ask the people who run your course.',
    },
    not_playable: {
      title: 'This lesson is not finished',
      text: 'Its authors have to complete it first. Please tell the people who run your course.',
    },
    too_many_requests: { title: 'Too much at once', text: 'Wait a minute, then reload the page.' },
    server_error: {
      title: 'Something went wrong',
      text: 'The fault is not yours. Wait a moment, then reload the page.',
    },
  },
};

const es: PageWords = {
  lesson: 'Lección',
  loading: 'Cargando…',
  noScript: 'Esta lección necesita JavaScript. Actívalo en tu navegador y vuelve a cargar la página.',
  code: 'Código para soporte',
  requestId: 'ID de la solicitud',
  back: 'Volver al curso',
  waiting: {
    title: 'Esta lección se abre desde tu curso',
    text: 'Ve a la página de tu curso que contiene esta lección y ábrela allí.',
  },
  delayed: 'La lección no se puede abrir en este momento. Seguimos intentándolo.',
  failures: {
    bad_address: { title: 'Esta dirección no está completa', text: again.es },
    token_expired: {
      title: 'Tu acceso ha caducado',
      text: `${again.es} Continuarás desde tu último progreso guardado.`,
    },
    token_invalid: { title: 'Este enlace no funciona', text: again.es },
    token_revoked: {
      title: 'Tu acceso ha finalizado',
      text: 'Si todavía necesitas esta lección, pregunta a los responsables de tu curso.',
    },
    wrong_lesson: { title: 'Este enlace es de otra lección', text: again.es },
    not_available: {
      title: 'Esta lección no está disponible',
      text: 'No está publicada o se ha retirado. Si la necesitas, pregunta a los responsables de tu curso.',
    },
    not_playable: {
      title: 'Esta lección no está terminada',
      text: 'Sus autores tienen que completarla antes. Avisa a los responsables de tu curso.',
    },
    too_many_requests: {
      title: 'Demasiadas solicitudes',
      text: 'Espera un minuto y vuelve a cargar la página.',
    },
    server_error: {
      title: 'Algo ha salido mal',
      text: 'No es culpa tuya. Espera un momento y vuelve a cargar la página.',
    },
  },
};

const fr: PageWords = {
  lesson: 'Leçon',
  loading: 'Chargement…',
  noScript: 'Cette leçon a besoin de JavaScript. Activez-le dans votre navigateur, puis rechargez la page.',
  code: 'Code pour l’assistance',
  requestId: 'Identifiant de la requête',
  back: 'Retour au cours',
  waiting: {
    title: 'Cette leçon s’ouvre depuis votre cours',
    text: 'Allez à la page de votre cours qui contient cette leçon et ouvrez-la là.',
  },
  delayed: 'La leçon ne peut pas s’ouvrir pour le moment. Nouvelle tentative en cours.',
  failures: {
    bad_address: { title: 'Cette adresse n’est pas complète', text: again.fr },
    token_expired: {
      title: 'Votre accès a expiré',
      text: `${again.fr} Vous reprendrez là où votre progression a été enregistrée.`,
    },
    token_invalid: { title: 'Ce lien ne fonctionne pas', text: again.fr },
    token_revoked: {
      title: 'Votre accès a pris fin',
      text: 'Si vous avez encore besoin de cette leçon, adressez-vous aux responsables de votre cours.',
    },
    wrong_lesson: { title: 'Ce lien est celui d’une autre leçon', text: again.fr },
    not_available: {
      title: 'Cette leçon n’est pas disponible',
      text: 'Elle n’est pas publiée ou a été retirée. Adressez-vous aux responsables de votre cours.',
    },
    not_playable: {
      title: 'Cette leçon n’est pas terminée',
      text: 'Ses auteurs doivent d’abord la compléter. Prévenez les responsables de votre cours.',
    },
    too_many_requests: {
      title: 'Trop de demandes à la fois',
      text: 'Attendez une minute, puis rechargez la page.',
    },
    server_error: {
      title: 'Une erreur est survenue',
      text: 'Vous n’y êtes pour rien. Attendez un instant, puis rechargez la page.',
    },
  },
};

const de: PageWords = {
  lesson: 'Lektion',
  loading: 'Wird geladen …',
  noScript: 'Diese Lektion braucht JavaScript. Schalte es in deinem Browser ein und lade die Seite neu.',
  code: 'Code für den Support',
  requestId: 'Anfrage-ID',
  back: 'Zurück zum Kurs',
  waiting: {
    title: 'Diese Lektion öffnet sich aus deinem Kurs',
    text: 'Gehe zu der Seite deines Kurses, die diese Lektion enthält, und öffne sie dort.',
  },
  delayed: 'Die Lektion lässt sich gerade nicht öffnen. Wir versuchen es weiter.',
  failures: {
    bad_address: { title: 'Diese Adresse ist nicht vollständig', text: again.de },
    token_expired: {
      title: 'Dein Zugang ist abgelaufen',
      text: `${again.de} Es geht dort weiter, wo dein Fortschritt zuletzt gespeichert wurde.`,
    },
    token_invalid: { title: 'Dieser Link funktioniert nicht', text: again.de },
    token_revoked: {
      title: 'Dein Zugang wurde beendet',
      text: 'Wenn du diese Lektion noch brauchst, wende dich an die Verantwortlichen deines Kurses.',
    },
    wrong_lesson: { title: 'Dieser Link gehört zu einer anderen Lektion', text: again.de },
    not_available: {
      title: 'Diese Lektion ist nicht verfügbar',
      text: 'Sie ist nicht veröffentlicht oder wurde entfernt. Wende dich an die Verantwortlichen deines Kurses.',
    },
    not_playable: {
      title: 'Diese Lektion ist noch nicht fertig',
      text: 'Sie muss erst vervollständigt werden. Sag bitte den Verantwortlichen deines Kurses Bescheid.',
    },
    too_many_requests: { title: 'Zu viele Anfragen', text: 'Warte eine Minute und lade die Seite neu.' },
    server_error: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das liegt nicht an dir. Warte einen Moment und lade die Seite neu.',
    },
  },
};

const pt: PageWords = {
  lesson: 'Lição',
  loading: 'Carregando…',
  noScript: 'Esta lição precisa de JavaScript. Ative-o no seu navegador e recarregue a página.',
  code: 'Código para o suporte',
  requestId: 'ID da solicitação',
  back: 'Voltar ao curso',
  waiting: {
    title: 'Esta lição abre a partir do seu curso',
    text: 'Vá à página do seu curso que contém esta lição e abra-a lá.',
  },
  delayed: 'Não é possível abrir a lição agora. Continuamos tentando.',
  failures: {
    bad_address: { title: 'Este endereço não está completo', text: again.pt },
    token_expired: {
      title: 'Seu acesso expirou',
      text: `${again.pt} Você continuará do último progresso salvo.`,
    },
    token_invalid: { title: 'Este link não funciona', text: again.pt },
    token_revoked: {
      title: 'Seu acesso foi encerrado',
      text: 'Se ainda precisar desta lição, fale com os responsáveis pelo seu curso.',
    },
    wrong_lesson: { title: 'Este link é de outra lição', text: again.pt },
    not_available: {
      title: 'Esta lição não está disponível',
      text: 'Ela não está publicada ou foi removida. Fale com os responsáveis pelo seu curso.',
    },
    not_playable: {
      title: 'Esta lição não está pronta',
      text: 'Seus autores precisam completá-la primeiro. Avise os responsáveis pelo seu curso.',
    },
    too_many_requests: {
      title: 'Pedidos demais de uma vez',
      text: 'Espere um minuto e recarregue a página.',
    },
    server_error: {
      title: 'Algo deu errado',
      text: 'A culpa não é sua. Espere um momento e recarregue a página.',
    },
  },
};

const ar: PageWords = {
  lesson: 'درس',
  loading: 'جارٍ التحميل…',
  noScript: 'يحتاج هذا الدرس إلى JavaScript. فعّلها في متصفحك ثم أعد تحميل الصفحة.',
  code: 'رمز للدعم',
  requestId: 'معرّف الطلب',
  back: 'العودة إلى المقرر',
  waiting: {
    title: 'يُفتح هذا الدرس من مقررك',
    text: 'انتقل إلى صفحة مقررك التي تحتوي على هذا الدرس وافتحه من هناك.',
  },
  delayed: 'يتعذّر فتح الدرس الآن. نواصل المحاولة.',
  failures: {
    bad_address: { title: 'هذا العنوان غير مكتمل', text: again.ar },
    token_expired: {
      title: 'انتهت صلاحية دخولك',
      text: `${again.ar} ستتابع من آخر تقدم تم حفظه.`,
    },
    token_invalid: { title: 'هذا الرابط لا يعمل', text: again.ar },
    token_revoked: {
      title: 'تم إنهاء دخولك',
      text: 'إذا كنت لا تزال بحاجة إلى هذا الدرس فاسأل المسؤولين عن مقررك.',
    },
    wrong_lesson: { title: 'هذا الرابط لدرس آخر', text: again.ar },
    not_available: {
      title: 'هذا الدرس غير متاح',
      text: 'لم يُنشر أو تمت إزالته. إذا كنت بحاجة إليه فاسأل المسؤولين عن مقررك.',
    },
    not_playable: {
      title: 'هذا الدرس غير مكتمل',
      text: 'على مؤلفيه إكماله أولًا. أخبر المسؤولين عن مقررك.',
    },
    too_many_requests: { title: 'طلبات كثيرة جدًا', text: 'انتظر دقيقة ثم أعد تحميل الصفحة.' },
    server_error: { title: 'حدث خطأ ما', text: 'الخطأ ليس منك. انتظر قليلًا ثم أعد تحميل الصفحة.' },
  },
};

const zh: PageWords = {
  lesson: '课程',
  loading: '正在加载…',
  noScript: '本课需要 JavaScript。请在浏览器中启用它，然后重新加载页面。',
  code: '支持代码',
  requestId: '请求编号',
  back: '返回课程页面',
  waiting: { title: '请从你的课程中打开本课', text: '请前往包含本课的课程页面，并在那里打开。' },
  delayed: '现在无法打开本课，正在重试。',
  failures: {
    bad_address: { title: '地址不完整', text: again.zh },
    token_expired: { title: '你的访问已过期', text: `${again.zh}你将从上次保存的进度继续。` },
    token_invalid: { title: '此链接无效', text: again.zh },
    token_revoked: { title: '你的访问已终止', text: '如果你仍需要本课，请联系课程负责人。' },
    wrong_lesson: { title: '此链接属于另一课', text: again.zh },
    not_available: { title: '本课不可用', text: '本课尚未发布或已被移除。如有需要，请联系课程负责人。' },
    not_playable: { title: '本课尚未完成', text: '作者需要先完成本课。请告知课程负责人。' },
    too_many_requests: { title: '请求过多', text: '请等待一分钟，然后重新加载页面。' },
    server_error: { title: '出错了', text: '这不是你的问题。请稍候，然后重新加载页面。' },
  },
};

const all = { en, es, fr, de, pt, ar, zh };

/** English first: what a reader gets who asks for none of them. */
export const pageLanguages = Object.keys(all);

/**
 * Which of `pageLanguages` a platform or browser means; undefined where there are no words in it.
 *
 * @param tag a BCP 47 tag, or as some platforms write it: `pt_BR`, `en_us`
 */
export function knownLanguage(tag: string): string | undefined {
  const [base = ''] = tag.trim().toLowerCase().split(/[-_]/);
  return pageLanguages.find((language) => language === base);
}

/** As {@link wordsIn}. */
export function pageWords(language: string): PageWords {
  return wordsIn(all, language);
}
