/**
 * Messages of the widgets (i18n). Another language is one more entry in LANGUAGES; the compiler names
 * the words it lacks.
 */
const en = {
  checkAnswer: 'Check answer',
  tryAgain: 'Try again',
  change: 'Change answer',
  chooseOne: 'Choose one answer.',
  chooseSeveral: 'Choose all the answers that apply.',
  chooseFirst: 'Choose an answer first.',
  correct: 'Correct',
  incorrect: 'Not correct',
  partlyCorrect: 'Partly correct',
  rightChoice: 'Correct answer',
  /** Between two sentences. */
  stop: '. ',
  score: 'Score: {score} of {maxScore}',
  triesLeft: 'Tries left: {left}',
  answerSaved: 'Your answer is saved.',
  explanation: 'Explanation',
  yourAnswer: 'Your answer',
  writeFirst: 'Write an answer first.',
  submit: 'Submit',
  update: 'Update answer',
  sampleAnswer: 'Sample answer',
  compare: 'Your answer is saved. Compare it with the sample answer.',
  transcript: 'Transcript',
  captions: 'Captions',
  captionsOff: 'Off',
  captionsMissing: 'The captions cannot be shown.',
  table: 'Table',
  zoom: 'Enlarge image',
  /** Of a picture with a text alternative. */
  zoomNamed: 'Enlarge image: {alt}',
  zoomed: 'Enlarged image',
  close: 'Close',
  imageMissing: 'This image cannot be shown.',
  videoMissing: 'This video cannot be played.',
  audioMissing: 'This audio cannot be played.',
};

/** The words of one language. */
export type Words = typeof en;

const es: Words = {
  checkAnswer: 'Comprobar respuesta',
  tryAgain: 'Intentar de nuevo',
  change: 'Cambiar respuesta',
  chooseOne: 'Elige una respuesta.',
  chooseSeveral: 'Elige todas las respuestas correctas.',
  chooseFirst: 'Primero elige una respuesta.',
  correct: 'Correcto',
  incorrect: 'Incorrecto',
  partlyCorrect: 'Parcialmente correcto',
  rightChoice: 'Respuesta correcta',
  stop: '. ',
  score: 'Puntuación: {score} de {maxScore}',
  triesLeft: 'Intentos restantes: {left}',
  answerSaved: 'Tu respuesta se ha guardado.',
  explanation: 'Explicación',
  yourAnswer: 'Tu respuesta',
  writeFirst: 'Primero escribe una respuesta.',
  submit: 'Enviar',
  update: 'Actualizar respuesta',
  sampleAnswer: 'Respuesta de ejemplo',
  compare: 'Tu respuesta se ha guardado. Compárala con la respuesta de ejemplo.',
  transcript: 'Transcripción',
  captions: 'Subtítulos',
  captionsOff: 'Desactivados',
  captionsMissing: 'No se pueden mostrar los subtítulos.',
  table: 'Tabla',
  zoom: 'Ampliar imagen',
  zoomNamed: 'Ampliar imagen: {alt}',
  zoomed: 'Imagen ampliada',
  close: 'Cerrar',
  imageMissing: 'No se puede mostrar esta imagen.',
  videoMissing: 'No se puede reproducir este vídeo.',
  audioMissing: 'No se puede reproducir este audio.',
};

const fr: Words = {
  checkAnswer: 'Vérifier la réponse',
  tryAgain: 'Réessayer',
  change: 'Changer la réponse',
  chooseOne: 'Choisissez une réponse.',
  chooseSeveral: 'Choisissez toutes les bonnes réponses.',
  chooseFirst: 'Choisissez d’abord une réponse.',
  correct: 'Correct',
  incorrect: 'Incorrect',
  partlyCorrect: 'Partiellement correct',
  rightChoice: 'Bonne réponse',
  stop: '. ',
  score: 'Score\u00a0: {score} sur {maxScore}',
  triesLeft: 'Essais restants\u00a0: {left}',
  answerSaved: 'Votre réponse est enregistrée.',
  explanation: 'Explication',
  yourAnswer: 'Votre réponse',
  writeFirst: 'Écrivez d’abord une réponse.',
  submit: 'Envoyer',
  update: 'Modifier la réponse',
  sampleAnswer: 'Exemple de réponse',
  compare: 'Votre réponse est enregistrée. Comparez-la à l’exemple.',
  transcript: 'Transcription',
  captions: 'Sous-titres',
  captionsOff: 'Désactivés',
  captionsMissing: 'Impossible d’afficher les sous-titres.',
  table: 'Tableau',
  zoom: 'Agrandir l’image',
  zoomNamed: 'Agrandir l’image : {alt}',
  zoomed: 'Image agrandie',
  close: 'Fermer',
  imageMissing: 'Impossible d’afficher cette image.',
  videoMissing: 'Impossible de lire cette vidéo.',
  audioMissing: 'Impossible de lire cet enregistrement.',
};

const de: Words = {
  checkAnswer: 'Antwort prüfen',
  tryAgain: 'Noch einmal versuchen',
  change: 'Antwort ändern',
  chooseOne: 'Wähle eine Antwort.',
  chooseSeveral: 'Wähle alle richtigen Antworten.',
  chooseFirst: 'Wähle zuerst eine Antwort.',
  correct: 'Richtig',
  incorrect: 'Nicht richtig',
  partlyCorrect: 'Teilweise richtig',
  rightChoice: 'Richtige Antwort',
  stop: '. ',
  score: 'Punkte: {score} von {maxScore}',
  triesLeft: 'Verbleibende Versuche: {left}',
  answerSaved: 'Deine Antwort ist gespeichert.',
  explanation: 'Erklärung',
  yourAnswer: 'Deine Antwort',
  writeFirst: 'Schreibe zuerst eine Antwort.',
  submit: 'Absenden',
  update: 'Antwort ändern',
  sampleAnswer: 'Beispielantwort',
  compare: 'Deine Antwort ist gespeichert. Vergleiche sie mit der Beispielantwort.',
  transcript: 'Transkript',
  captions: 'Untertitel',
  captionsOff: 'Aus',
  captionsMissing: 'Die Untertitel können nicht angezeigt werden.',
  table: 'Tabelle',
  zoom: 'Bild vergrößern',
  zoomNamed: 'Bild vergrößern: {alt}',
  zoomed: 'Vergrößertes Bild',
  close: 'Schließen',
  imageMissing: 'Dieses Bild kann nicht angezeigt werden.',
  videoMissing: 'Dieses Video kann nicht abgespielt werden.',
  audioMissing: 'Diese Aufnahme kann nicht abgespielt werden.',
};

const pt: Words = {
  checkAnswer: 'Verificar resposta',
  tryAgain: 'Tentar novamente',
  change: 'Alterar resposta',
  chooseOne: 'Escolha uma resposta.',
  chooseSeveral: 'Escolha todas as respostas corretas.',
  chooseFirst: 'Escolha primeiro uma resposta.',
  correct: 'Correto',
  incorrect: 'Incorreto',
  partlyCorrect: 'Parcialmente correto',
  rightChoice: 'Resposta correta',
  stop: '. ',
  score: 'Pontuação: {score} de {maxScore}',
  triesLeft: 'Tentativas restantes: {left}',
  answerSaved: 'Sua resposta foi salva.',
  explanation: 'Explicação',
  yourAnswer: 'Sua resposta',
  writeFirst: 'Escreva primeiro uma resposta.',
  submit: 'Enviar',
  update: 'Atualizar resposta',
  sampleAnswer: 'Exemplo de resposta',
  compare: 'Sua resposta foi salva. Compare-a com o exemplo.',
  transcript: 'Transcrição',
  captions: 'Legendas',
  captionsOff: 'Desativadas',
  captionsMissing: 'Não é possível mostrar as legendas.',
  table: 'Tabela',
  zoom: 'Ampliar imagem',
  zoomNamed: 'Ampliar imagem: {alt}',
  zoomed: 'Imagem ampliada',
  close: 'Fechar',
  imageMissing: 'Não é possível mostrar esta imagem.',
  videoMissing: 'Não é possível reproduzir este vídeo.',
  audioMissing: 'Não é possível reproduzir este áudio.',
};

const ar: Words = {
  checkAnswer: 'تحقّق من الإجابة',
  tryAgain: 'حاول مرة أخرى',
  change: 'تغيير الإجابة',
  chooseOne: 'اختر إجابة واحدة.',
  chooseSeveral: 'اختر كل الإجابات الصحيحة.',
  chooseFirst: 'اختر إجابة أولًا.',
  correct: 'إجابة صحيحة',
  incorrect: 'إجابة غير صحيحة',
  partlyCorrect: 'إجابة صحيحة جزئيًا',
  rightChoice: 'الإجابة الصحيحة',
  stop: '. ',
  score: 'النتيجة: {score} من {maxScore}',
  triesLeft: 'المحاولات المتبقية: {left}',
  answerSaved: 'تم حفظ إجابتك.',
  explanation: 'الشرح',
  yourAnswer: 'إجابتك',
  writeFirst: 'اكتب إجابة أولًا.',
  submit: 'إرسال',
  update: 'تحديث الإجابة',
  sampleAnswer: 'إجابة نموذجية',
  compare: 'تم حفظ إجابتك. قارنها بالإجابة النموذجية.',
  transcript: 'النص المكتوب',
  captions: 'الترجمة النصية',
  captionsOff: 'إيقاف',
  captionsMissing: 'تعذّر عرض الترجمة النصية.',
  table: 'جدول',
  zoom: 'تكبير الصورة',
  zoomNamed: 'تكبير الصورة: {alt}',
  zoomed: 'الصورة مكبّرة',
  close: 'إغلاق',
  imageMissing: 'تعذّر عرض هذه الصورة.',
  videoMissing: 'تعذّر تشغيل هذا الفيديو.',
  audioMissing: 'تعذّر تشغيل هذا المقطع الصوتي.',
};

const zh: Words = {
  checkAnswer: '检查答案',
  tryAgain: '再试一次',
  change: '更改答案',
  chooseOne: '请选择一个答案。',
  chooseSeveral: '请选择所有正确的答案。',
  chooseFirst: '请先选择一个答案。',
  correct: '回答正确',
  incorrect: '回答不正确',
  partlyCorrect: '部分正确',
  rightChoice: '正确答案',
  stop: '。',
  score: '得分：{score} / {maxScore}',
  triesLeft: '剩余次数：{left}',
  answerSaved: '你的答案已保存。',
  explanation: '解析',
  yourAnswer: '你的答案',
  writeFirst: '请先写下答案。',
  submit: '提交',
  update: '更新答案',
  sampleAnswer: '参考答案',
  compare: '你的答案已保存。请与参考答案对照。',
  transcript: '文字稿',
  captions: '字幕',
  captionsOff: '关闭',
  captionsMissing: '无法显示字幕。',
  table: '表格',
  zoom: '放大图片',
  zoomNamed: '放大图片：{alt}',
  zoomed: '放大的图片',
  close: '关闭',
  imageMissing: '无法显示此图片。',
  videoMissing: '无法播放此视频。',
  audioMissing: '无法播放此音频。',
};

const LANGUAGES = new Map<string, Words>(Object.entries({ en, es, fr, de, pt, ar, zh }));

/**
 * The words for a lesson's language; English where there are none.
 *
 * @param language a BCP 47 tag: region and script do not matter (`pt-BR` reads `pt`)
 */
export function wordsFor(language: string): Words {
  const [base = ''] = language.toLowerCase().split('-');
  return LANGUAGES.get(base) ?? en;
}

/** Puts values in place of the `{name}` gaps of a phrase; numbers are written as the language writes them. */
export function fill(phrase: string, values: Record<string, number>, language: string): string {
  return phrase.replace(/\{(\w+)\}/g, (gap, name: string) => {
    const value = values[name];
    return value === undefined ? gap : numberText(value, language);
  });
}

/** Languages in which the numbers of steps and points look as in JSON, in every country. */
const PLAIN_NUMBERS = /^(de|en|es|fr|pt|zh)(-[a-z]{2})?$/i;

/** The browser takes its time to get a formatter ready, and would before the first step of each lesson. */
function numberText(value: number, language: string): string {
  if (Number.isInteger(value) && value >= 0 && value < 1000 && PLAIN_NUMBERS.test(language))
    return `${value}`;
  try {
    return value.toLocaleString(language, { maximumFractionDigits: 2 });
  } catch {
    // A tag that is no BCP 47 tag: the number still has to be shown.
    return String(value);
  }
}
