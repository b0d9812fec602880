/** One right choice, worth 3 points. */
export const question = {
  type: 'MultipleChoice',
  props: {
    id: 'q1',
    prompt: '<p>Which is a planet?</p>',
    choices: [
      { id: 'moon', html: 'The <em>Moon</em>' },
      { id: 'mars', html: 'Mars' },
      { id: 'sun', html: 'The Sun' },
    ],
    correct: ['mars'],
    points: 3,
    explanation: '<p>Mars goes round the Sun.</p>',
  },
};

/** Two right choices, with partial credit. */
export const several = {
  type: 'MultipleChoice',
  props: { ...question.props, id: 'q2', correct: ['mars', 'moon'], partialCredit: true, points: 2 },
};

export const openQuestion = {
  type: 'OpenResponse',
  props: { id: 'o1', prompt: '<p>Why?</p>', sampleAnswer: 'Because it <em>turns</em>.' },
};
