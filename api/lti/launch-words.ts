import type { Notice } from '../embed/page-words.ts';
import { wordsIn } from '../http/messages-in.ts';
import type { NoticeKind } from './faults.ts';

/** What is said to somebody whose launch is refused; the code beside it says more, to who can mend it. */
export interface LaunchWords {
  /** What begins a launch anew. */
  openInNewTab: string;
  notices: Record<NoticeKind, Notice>;
}

const en: LaunchWords = {
  openInNewTab: 'Open in a new tab',
  notices: {
    again: {
      title: 'This launch is over',
      text: 'Open the lesson again from your course. If you see this page again, pass the code on to support.',
    },
    setUp: {
      title: 'Your course cannot open this lesson',
      text: 'The connection between your learning platform and Lectern has to be put right. Please pass the code on to those who look after the platform.',
    },
    noLesson: {
      title: 'No lesson is chosen here',
      text: 'This link in the course leads to no lesson yet. Your teacher can choose one.',
    },
    notAvailable: {
      title: 'This lesson is not available',
      text: 'It is not published, or has been removed. If you need it, ask your teacher.',
    },
    notYours: {
      title: 'Lessons are chosen by teachers',
      text: 'Your learning platform says that you are a learner of this course.',
    },
    choiceOver: { title: 'This choice is over', text: 'Begin it again in your course. Nothing was added.' },
    platformAway: {
      title: 'Your learning platform does not answer',
      text: 'Wait a minute, then open the lesson again from your course.',
    },
    platformRefused: {
      title: 'Your learning platform has refused',
      text: 'Log in to your learning platform, then open the lesson again from your course.',
    },
    newTab: {
      title: 'Your browser keeps the lesson from opening here',
      text: 'Open it in a new tab. If you see this page there too, allow cookies for it.',
    },
    cookies: {
      title: 'Your browser was not recognized',
      text: 'Open the lesson again from your course. If you see this page again, allow cookies for it.',
    },
    tooMany: {
      title: 'Too much at once',
      text: 'Wait a minute, then open the lesson again from your course.',
    },
    serverError: {
      title: 'Something went wrong',
      text: 'The fault is not yours. Wait a moment, then open the lesson again from your course.',
    },
  },
};

const es: LaunchWords = {
  openInNewTab: 'Abrir en una pestaña nueva',
  notices: {
    again: {
      title: 'Este acceso ya no es válido',
      text: 'Abre de nuevo la lección desde tu curso. Si vuelves a ver esta página, envía el código a soporte.',
    },
    setUp: {
      title: 'Tu curso no puede abrir esta lección',
      text: 'Hay que corregir la conexión entre tu plataforma de aprendizaje y Lectern. Envía el código a los responsables de la plataforma.',
    },
    noLesson: {
      title: 'Aquí no se ha elegido ninguna lección',
      text: 'Este enlace del curso todavía no lleva a ninguna lección. Tu docente puede elegir una.',
    },
    notAvailable: {
      title: 'Esta lección no está disponible',
      text: 'No está publicada o se ha retirado. Si la necesitas, pregunta a tu docente.',
    },
    notYours: {
      title: 'Las lecciones las eligen los docentes',
      text: 'Tu plataforma de aprendizaje indica que eres estudiante de este curso.',
    },
    choiceOver: {
      title: 'Esta elección ya no es válida',
      text: 'Empieza de nuevo en tu curso. No se ha añadido nada.',
    },
    platformAway: {
      title: 'Tu plataforma de aprendizaje no responde',
      text: 'Espera un minuto y abre de nuevo la lección desde tu curso.',
    },
    platformRefused: {
      title: 'Tu plataforma de aprendizaje ha rechazado el acceso',
      text: 'Inicia sesión en tu plataforma de aprendizaje y abre de nuevo la lección desde tu curso.',
    },
    newTab: {
      title: 'Tu navegador no permite abrir la lección aquí',
      text: 'Ábrela en una pestaña nueva. Si también ves esta página allí, permite las cookies para ella.',
    },
    cookies: {
      title: 'No se ha reconocido tu navegador',
      text: 'Abre de nuevo la lección desde tu curso. Si vuelves a ver esta página, permite las cookies para ella.',
    },
    tooMany: {
      title: 'Demasiadas solicitudes',
      text: 'Espera un minuto y abre de nuevo la lección desde tu curso.',
    },
    serverError: {
      title: 'Algo ha salido mal',
      text: 'No es culpa tuya. Espera un momento y abre de nuevo la lección desde tu curso.',
    },
  },
};

const fr: LaunchWords = {
  openInNewTab: 'Ouvrir dans un nouvel onglet',
  notices: {
    again: {
      title: 'Cet accès n’est plus valable',
      text: 'Ouvrez à nouveau la leçon depuis votre cours. Si cette page s’affiche encore, transmettez le code à l’assistance.',
    },
    setUp: {
      title: 'Votre cours ne peut pas ouvrir cette leçon',
      text: 'La connexion entre votre plateforme d’apprentissage et Lectern doit être corrigée. Transmettez le code aux responsables de la plateforme.',
    },
    noLesson: {
      title: 'Aucune leçon n’est choisie ici',
      text: 'Ce lien du cours ne mène encore à aucune leçon. Votre enseignant peut en choisir une.',
    },
    notAvailable: {
      title: 'Cette leçon n’est pas disponible',
      text: 'Elle n’est pas publiée ou a été retirée. Si vous en avez besoin, adressez-vous à votre enseignant.',
    },
    notYours: {
      title: 'Les leçons sont choisies par les enseignants',
      text: 'Votre plateforme d’apprentissage indique que vous êtes élève de ce cours.',
    },
    choiceOver: {
      title: 'Ce choix n’est plus valable',
      text: 'Recommencez dans votre cours. Rien n’a été ajouté.',
    },
    platformAway: {
      title: 'Votre plateforme d’apprentissage ne répond pas',
      text: 'Attendez une minute, puis ouvrez à nouveau la leçon depuis votre cours.',
    },
    platformRefused: {
      title: 'Votre plateforme d’apprentissage a refusé l’accès',
      text: 'Connectez-vous à votre plateforme d’apprentissage, puis ouvrez à nouveau la leçon depuis votre cours.',
    },
    newTab: {
      title: 'Votre navigateur empêche d’ouvrir la leçon ici',
      text: 'Ouvrez-la dans un nouvel onglet. Si cette page s’y affiche aussi, autorisez les cookies pour elle.',
    },
    cookies: {
      title: 'Votre navigateur n’a pas été reconnu',
      text: 'Ouvrez à nouveau la leçon depuis votre cours. Si cette page s’affiche encore, autorisez les cookies pour elle.',
    },
    tooMany: {
      title: 'Trop de demandes à la fois',
      text: 'Attendez une minute, puis ouvrez à nouveau la leçon depuis votre cours.',
    },
    serverError: {
      title: 'Une erreur est survenue',
      text: 'Vous n’y êtes pour rien. Attendez un instant, puis ouvrez à nouveau la leçon depuis votre cours.',
    },
  },
};

const de: LaunchWords = {
  openInNewTab: 'In einem neuen Tab öffnen',
  notices: {
    again: {
      title: 'Dieser Aufruf ist nicht mehr gültig',
      text: 'Öffne die Lektion noch einmal aus deinem Kurs. Wenn du diese Seite wieder siehst, gib den Code an den Support weiter.',
    },
    setUp: {
      title: 'Dein Kurs kann diese Lektion nicht öffnen',
      text: 'Die Verbindung zwischen deiner Lernplattform und Lectern muss in Ordnung gebracht werden. Gib den Code bitte an die Verantwortlichen der Plattform weiter.',
    },
    noLesson: {
      title: 'Hier ist keine Lektion ausgewählt',
      text: 'Dieser Link im Kurs führt noch zu keiner Lektion. Deine Lehrperson kann eine auswählen.',
    },
    notAvailable: {
      title: 'Diese Lektion ist nicht verfügbar',
      text: 'Sie ist nicht veröffentlicht oder wurde entfernt. Wenn du sie brauchst, frage deine Lehrperson.',
    },
    notYours: {
      title: 'Lektionen wählen die Lehrenden aus',
      text: 'Deine Lernplattform sagt, dass du in diesem Kurs lernst.',
    },
    choiceOver: {
      title: 'Diese Auswahl ist nicht mehr gültig',
      text: 'Beginne sie noch einmal in deinem Kurs. Es wurde nichts hinzugefügt.',
    },
    platformAway: {
      title: 'Deine Lernplattform antwortet nicht',
      text: 'Warte eine Minute und öffne die Lektion noch einmal aus deinem Kurs.',
    },
    platformRefused: {
      title: 'Deine Lernplattform hat abgelehnt',
      text: 'Melde dich bei deiner Lernplattform an und öffne die Lektion noch einmal aus deinem Kurs.',
    },
    newTab: {
      title: 'Dein Browser lässt die Lektion hier nicht zu',
      text: 'Öffne sie in einem neuen Tab. Wenn du diese Seite auch dort siehst, erlaube Cookies für sie.',
    },
    cookies: {
      title: 'Dein Browser wurde nicht erkannt',
      text: 'Öffne die Lektion noch einmal aus deinem Kurs. Wenn du diese Seite wieder siehst, erlaube Cookies für sie.',
    },
    tooMany: {
      title: 'Zu viele Anfragen',
      text: 'Warte eine Minute und öffne die Lektion noch einmal aus deinem Kurs.',
    },
    serverError: {
      title: 'Etwas ist schiefgegangen',
      text: 'Das liegt nicht an dir. Warte einen Moment und öffne die Lektion noch einmal aus deinem Kurs.',
    },
  },
};

const pt: LaunchWords = {
  openInNewTab: 'Abrir em uma nova aba',
  notices: {
    again: {
      title: 'Este acesso não é mais válido',
      text: 'Abra a lição novamente a partir do seu curso. Se vir esta página de novo, envie o código ao suporte.',
    },
    setUp: {
      title: 'Seu curso não consegue abrir esta lição',
      text: 'A conexão entre a sua plataforma de aprendizagem e o Lectern precisa ser corrigida. Envie o código aos responsáveis pela plataforma.',
    },
    noLesson: {
      title: 'Nenhuma lição foi escolhida aqui',
      text: 'Este link do curso ainda não leva a nenhuma lição. Seu professor pode escolher uma.',
    },
    notAvailable: {
      title: 'Esta lição não está disponível',
      text: 'Ela não está publicada ou foi removida. Se precisar dela, fale com seu professor.',
    },
    notYours: {
      title: 'As lições são escolhidas por professores',
      text: 'Sua plataforma de aprendizagem informa que você é aluno deste curso.',
    },
    choiceOver: {
      title: 'Esta escolha não é mais válida',
      text: 'Comece de novo no seu curso. Nada foi adicionado.',
    },
    platformAway: {
      title: 'Sua plataforma de aprendizagem não responde',
      text: 'Espere um minuto e abra a lição novamente a partir do seu curso.',
    },
    platformRefused: {
      title: 'Sua plataforma de aprendizagem recusou o acesso',
      text: 'Entre na sua plataforma de aprendizagem e abra a lição novamente a partir do seu curso.',
    },
    newTab: {
      title: 'Seu navegador não deixa a lição abrir aqui',
      text: 'Abra-a em uma nova aba. Se esta página também aparecer lá, permita cookies para ela.',
    },
    cookies: {
      title: 'Seu navegador não foi reconhecido',
      text: 'Abra a lição novamente a partir do seu curso. Se vir esta página de novo, permita cookies para ela.',
    },
    tooMany: {
      title: 'Pedidos demais de uma vez',
      text: 'Espere um minuto e abra a lição novamente a partir do seu curso.',
    },
    serverError: {
      title: 'Algo deu errado',
      text: 'A culpa não é sua. Espere um momento e abra a lição novamente a partir do seu curso.',
    },
  },
};

const ar: LaunchWords = {
  openInNewTab: 'الفتح في علامة تبويب جديدة',
  notices: {
    again: {
      title: 'انتهت صلاحية هذا الدخول',
      text: 'افتح الدرس مرة أخرى من صفحة مقررك. إذا رأيت هذه الصفحة مجددًا فأرسل الرمز إلى الدعم.',
    },
    setUp: {
      title: 'لا يستطيع مقررك فتح هذا الدرس',
      text: 'يجب تصحيح الاتصال بين منصة التعلم و Lectern. أرسل الرمز إلى المسؤولين عن المنصة.',
    },
    noLesson: {
      title: 'لم يتم اختيار درس هنا',
      text: 'لا يؤدي هذا الرابط في المقرر إلى أي درس بعد. يمكن لمعلمك اختيار درس.',
    },
    notAvailable: {
      title: 'هذا الدرس غير متاح',
      text: 'لم يُنشر أو تمت إزالته. إذا كنت بحاجة إليه فاسأل معلمك.',
    },
    notYours: { title: 'المعلمون هم من يختارون الدروس', text: 'تقول منصة التعلم إنك متعلم في هذا المقرر.' },
    choiceOver: { title: 'انتهت صلاحية هذا الاختيار', text: 'ابدأه مرة أخرى في مقررك. لم تتم إضافة أي شيء.' },
    platformAway: {
      title: 'منصة التعلم لا تستجيب',
      text: 'انتظر دقيقة ثم افتح الدرس مرة أخرى من صفحة مقررك.',
    },
    platformRefused: {
      title: 'رفضت منصة التعلم الدخول',
      text: 'سجّل الدخول إلى منصة التعلم ثم افتح الدرس مرة أخرى من صفحة مقررك.',
    },
    newTab: {
      title: 'يمنع متصفحك فتح الدرس هنا',
      text: 'افتحه في علامة تبويب جديدة. إذا رأيت هذه الصفحة هناك أيضًا فاسمح لها بملفات تعريف الارتباط.',
    },
    cookies: {
      title: 'لم يتم التعرف على متصفحك',
      text: 'افتح الدرس مرة أخرى من صفحة مقررك. إذا رأيت هذه الصفحة مجددًا فاسمح لها بملفات تعريف الارتباط.',
    },
    tooMany: { title: 'طلبات كثيرة جدًا', text: 'انتظر دقيقة ثم افتح الدرس مرة أخرى من صفحة مقررك.' },
    serverError: {
      title: 'حدث خطأ ما',
      text: 'الخطأ ليس منك. انتظر قليلًا ثم افتح الدرس مرة أخرى من صفحة مقررك.',
    },
  },
};

const zh: LaunchWords = {
  openInNewTab: '在新标签页中打开',
  notices: {
    again: {
      title: '此次访问已失效',
      text: '请从你的课程中重新打开本课。如果再次看到此页面，请将代码转告支持人员。',
    },
    setUp: {
      title: '你的课程无法打开本课',
      text: '学习平台与 Lectern 之间的连接需要修正。请将代码转告平台的管理人员。',
    },
    noLesson: {
      title: '这里尚未选择课程内容',
      text: '课程中的这个链接还没有指向任何一课。你的老师可以选择一课。',
    },
    notAvailable: { title: '本课不可用', text: '本课尚未发布或已被移除。如有需要，请联系你的老师。' },
    notYours: { title: '课程内容由老师选择', text: '你的学习平台表明你是此课程的学习者。' },
    choiceOver: { title: '此次选择已失效', text: '请在你的课程中重新开始。没有添加任何内容。' },
    platformAway: { title: '你的学习平台没有响应', text: '请等待一分钟，然后从你的课程中重新打开本课。' },
    platformRefused: {
      title: '你的学习平台拒绝了访问',
      text: '请登录你的学习平台，然后从你的课程中重新打开本课。',
    },
    newTab: {
      title: '你的浏览器不允许在这里打开本课',
      text: '请在新标签页中打开。如果在那里也看到此页面，请允许它使用 Cookie。',
    },
    cookies: {
      title: '无法识别你的浏览器',
      text: '请从你的课程中重新打开本课。如果再次看到此页面，请允许它使用 Cookie。',
    },
    tooMany: { title: '请求过多', text: '请等待一分钟，然后从你的课程中重新打开本课。' },
    serverError: { title: '出错了', text: '这不是你的问题。请稍候，然后从你的课程中重新打开本课。' },
  },
};

const all = { en, es, fr, de, pt, ar, zh };

/** As {@link wordsIn}. */
export function launchWords(language: string): LaunchWords {
  return wordsIn(all, language);
}
